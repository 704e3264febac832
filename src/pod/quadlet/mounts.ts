/** Mounts of containers and pods: Volume, Mount and Tmpfs. Source: podman-run(1), "--volume", "--mount", "--tmpfs". */
import { isShortOption } from "../compose/mounts.ts";
import type { Draft } from "./draft.ts";
import type { Unit, Value } from "./unit.ts";

/** What others files of the directory are. */
export interface Others {
  /** Units by the names of their files, such as "data.volume". */
  readonly units: ReadonlyMap<string, Unit>;
  /** Name of the image that a file ".image" stands for, or the name itself. undefined: it was refused. */
  imageOf(value: Value, unit: Unit): string | undefined;
}

/** What a volume is mounted as: one that a file describes, or the one of a name. */
function namedVolume(
  source: string,
  value: Value,
  unit: Unit,
  { units }: Others,
): { readonly name: string; readonly unit?: Unit } | undefined {
  if (!source.endsWith(".volume")) return { name: source };
  const found = units.get(source);
  if (found === undefined) unit.refuse(`there is no file ${source}`, value.entry);
  return found === undefined ? undefined : { name: source, unit: found };
}

/** @returns names of volumes that no file describes */
export function addMounts(draft: Draft, unit: Unit, section: "Container" | "Pod", others: Others): string[] {
  const names: string[] = [];
  for (const value of unit.texts(section, "Volume")) {
    const [source = "", target, options, ...more] = value.text.split(":");
    const isPath = /^[./]/.test(source);
    const unknown = (options ?? "").split(",").filter((option) => option !== "" && !isShortOption(option));
    if (more.length > 0) unit.refuse("is SOURCE:TARGET:OPTIONS", value.entry);
    // Compose drops such words. Podman does not: with U, for example, it changes the owner of the files.
    else if (unknown.length > 0) unit.refuse(`there is no option ${unknown.join(" and ")} of a mount`, value.entry);
    else if (target === undefined || isPath) draft.add("volumes", value.text, value.entry);
    else {
      const found = namedVolume(source, value, unit, others);
      if (found === undefined) continue;
      if (found.unit === undefined) names.push(source);
      const image = imageIn(found.unit, others);
      const isEmpty = found.unit?.flag("Volume", "Copy")?.is === false;
      if (image !== undefined) draft.add("volumes", { type: "image", source: image, target }, value.entry);
      else {
        const words = [options, isEmpty ? "nocopy" : ""].filter(Boolean).join(",");
        draft.add("volumes", [found.name, target, words].filter(Boolean).join(":"), value.entry);
      }
    }
  }
  if (section === "Pod") return names;
  for (const value of unit.texts("Container", "Tmpfs")) draft.add("tmpfs", value.text, value.entry);
  for (const value of unit.texts("Container", "Mount")) {
    const made = mountOf(value, unit, others);
    if (made === undefined) continue;
    if (made["type"] === "volume" && typeof made["source"] === "string" && !made["source"].endsWith(".volume")) names.push(made["source"]);
    draft.add("volumes", made, value.entry);
  }
  return names;
}

/** Of a file with Driver=image. */
function imageIn(unit: Unit | undefined, others: Others): string | undefined {
  const value = unit?.text("Volume", "Driver")?.text === "image" ? unit.text("Volume", "Image") : undefined;
  return value === undefined ? undefined : others.imageOf(value, unit!);
}

const TYPES = ["bind", "volume", "tmpfs", "image"];
/** Where a mount is, by all names that an option has. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ type: "type", src: "source", source: "source", dst: "target", destination: "target", target: "target" },
  ...{ ro: "ro", readonly: "ro", rw: "rw", "bind-propagation": "propagation", relabel: "relabel" },
  ...{ "tmpfs-size": "size", "tmpfs-mode": "mode", subpath: "subpath" },
};
const OF_ALL = ["type", "source", "target", "ro"];
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  bind: ["propagation", "relabel"],
  volume: [],
  tmpfs: ["size", "mode"],
  image: ["subpath"],
};

function mountOf(value: Value, unit: Unit, others: Others): Record<string, unknown> | undefined {
  const refuse = (message: string) => {
    unit.refuse(message, value.entry);
    return undefined;
  };
  const given = new Map<string, string>();
  for (const part of listIn(value.text)) {
    const at = part.indexOf("=");
    const written = at < 0 ? part : part.slice(0, at);
    const name = Object.hasOwn(NAMES, written) ? NAMES[written]! : undefined;
    if (name === undefined) return refuse(`the option ${written} of a mount is not supported`);
    given.set(name, at < 0 ? "true" : part.slice(at + 1));
  }
  const type = given.get("type") ?? "volume";
  const target = given.get("target");
  const source = given.get("source");
  if (!TYPES.includes(type)) return refuse(`mounts of type ${type} are not supported: only ${TYPES.join(", ")} are`);
  const [wrong] = [...given.keys()].filter((name) => ![...OF_ALL, ...OF_TYPE[type]!].includes(name));
  if (wrong !== undefined) return refuse(`the option ${wrong} is not supported for the type ${type}`);
  if (target === undefined) return refuse("names no destination");
  const common = { type, target, ...(given.get("ro") === "true" ? { read_only: true } : {}) };
  if (type === "tmpfs") {
    const [size, mode] = [given.get("size"), given.get("mode")];
    if (mode !== undefined && !/^[0-7]{1,5}$/.test(mode)) return refuse(`${mode} is no mode like 1777`);
    const tmpfs = { ...(size === undefined ? {} : { size }), ...(mode === undefined ? {} : { mode: Number.parseInt(mode, 8) }) };
    return source === undefined ? { ...common, tmpfs } : refuse("what is in memory has no source");
  }
  if (source === undefined) return type === "volume" ? common : refuse("names no source");
  if (type === "bind") {
    const propagation = given.get("propagation");
    return { ...common, source, bind: propagation === undefined ? {} : { propagation } };
  }
  if (type === "image") return imageMount({ ...common, source: others.imageOf({ ...value, text: source }, unit) }, given.get("subpath"));
  const found = namedVolume(source, value, unit, others);
  if (found === undefined) return undefined;
  const image = imageIn(found.unit, others);
  if (image !== undefined) return { ...common, type: "image", source: image };
  return { ...common, source, ...(found.unit?.flag("Volume", "Copy")?.is === false ? { volume: { nocopy: true } } : {}) };
}

function imageMount(mount: Record<string, unknown>, subpath: string | undefined): Record<string, unknown> | undefined {
  if (mount["source"] === undefined) return undefined;
  return subpath === undefined ? mount : { ...mount, image: { subpath } };
}

/** Parts between commas; one in quotes may have commas, and "" is a quote in it. Source: RFC 4180. */
function listIn(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const one = text[at]!;
    if (one === '"' && isQuoted && text[at + 1] === '"') {
      part += one;
      at++;
    } else if (one === '"') isQuoted = !isQuoted;
    else if (one === "," && !isQuoted) {
      parts.push(part);
      part = "";
    } else part += one;
  }
  return [...parts, part].filter((one) => one !== "");
}
