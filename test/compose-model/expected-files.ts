/** What a service has to have of files: volumes, directories in memory, secrets and configs. */
import { existsSync, readFileSync, statSync } from "node:fs";
import type { Model } from "./oracle.ts";
import { type Fields, fieldsOf, imageName, listOf, numberIn, plainName, sorted, textsOf, view } from "./view.ts";

export interface Context {
  readonly model: Model;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

const withoutSlash = (path: unknown) => (path === undefined ? undefined : String(path).replace(/(?!^)\/+$/, ""));

const MULTIPLES = ["", "k", "m", "g"];

/** The model has it as a text in octal. */
const octal = (mode: unknown) => (Number.parseInt(String(mode), 8) & 0o777).toString(8);

/** Those of volumes_from are there, too, where the service has none itself. */
export function mountsOf({ volumes, volumes_from: lenders }: Fields, context: Context): readonly unknown[] {
  const own = listOf(volumes).map(fieldsOf);
  const lent = textsOf(lenders).flatMap((one) => {
    const [name, access] = one.split(":");
    const all = listOf(context.model.services?.[name!]?.["volumes"]).map(fieldsOf);
    return all
      .filter(({ target }) => !own.some((mount) => mount["target"] === target))
      .map((mount) => (access === "ro" ? { ...mount, read_only: true } : mount));
  });
  return [...lent, ...own].map((one) => mountOf(one, context));
}

function mountOf(mount: Fields, { model }: Context): unknown {
  const { type, source, target, read_only: readOnly } = mount;
  const [bind, volume, tmpfs, image] = ["bind", "volume", "tmpfs", "image"].map((kind) => fieldsOf(mount[kind]));
  const common = { target, read_only: readOnly };
  if (type === "tmpfs") return view({ ...common, memory: true, size: numberIn(tmpfs!["size"]) });
  if (type === "image")
    return view({
      target,
      read_only: true,
      image: imageName(String(source)),
      subpath: withoutSlash(image!["subpath"])?.replace(/^\/+/, ""),
    });
  const propagation = bind!["propagation"] === "rprivate" ? undefined : bind!["propagation"];
  if (type === "bind") return view({ ...common, source: withoutSlash(source), propagation });
  if (source === undefined) return view({ ...common, anonymous: true });
  const { driver_opts: options, name, external } = fieldsOf(model.volumes?.[String(source)]);
  const { device, o = "", type: kind } = fieldsOf(options) as { device?: string; o?: string; type?: string };
  const words = String(o).split(",");
  if (words.includes("bind") || words.includes("rbind"))
    return view({ target, read_only: readOnly === true || words.includes("ro"), source: device });
  if (kind === "tmpfs") return view({ ...common, memory: true });
  const own = name === undefined || String(name) === `${model.name}_${String(source)}` ? source : name;
  return view({ ...common, volume: plainName(String(own)), external, nocopy: volume!["nocopy"], subpath: volume!["subpath"] });
}

export function tmpfsOf(written: string): unknown {
  const [target, options = ""] = written.split(":");
  const words = options.split(",");
  const [, count, unit = ""] = /^size=(\d+)([bkmg]?)/i.exec(words.findLast((one) => one.startsWith("size=")) ?? "") ?? [];
  const size = count === undefined ? undefined : Number(count) * 1024 ** Math.max(0, MULTIPLES.indexOf(unit.toLowerCase()));
  return view({ target: withoutSlash(target), memory: true, size, read_only: words.includes("ro") });
}

/** undefined: it is told of, because the file or the variable is not there. */
export function contentOf(kind: "secrets" | "configs", source: unknown, { model, environment }: Context): unknown {
  const { file, environment: variable, content } = fieldsOf(model[kind]?.[String(source)]);
  return content ?? (variable === undefined ? textAt(file) : environment[String(variable)]);
}

/** What cannot be read here is no part of a task. */
export function filesOf(kind: "secrets" | "configs", given: unknown, context: Context): unknown {
  return sorted(
    listOf(given).flatMap((one) => {
      const { source, target, uid, gid, mode } = fieldsOf(one);
      const bytes = contentOf(kind, source, context);
      if (bytes === undefined) return [];
      const name = String(target ?? source);
      const at = name.startsWith("/") ? name : `${kind === "secrets" ? "/run/secrets/" : "/"}${name}`;
      return [view({ target: at, content: bytes, uid: numberIn(uid), gid: numberIn(gid), mode: mode === undefined ? "444" : octal(mode) })];
    }),
  );
}

function textAt(file: unknown): string | undefined {
  const path = String(file);
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path).toString() : undefined;
}
