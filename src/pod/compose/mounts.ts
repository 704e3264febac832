/** Translates volumes of a service. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { absolute } from "./paths.ts";
import { engineName, type ServicePlace } from "./place.ts";
import { bytesOf } from "./quantity.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

type Volume = NonNullable<TaskInput["volumes"]>[number];
type Mount = NonNullable<TaskInput["containers"][number]["mounts"]>[number];

export function mountsOf(
  { volumes: given = [], tmpfs = [] }: ServiceInput,
  project: ComposeInput,
  { directory, environment, refuse, needs }: ServicePlace,
): { volumes: Volume[]; mounts: Mount[] } {
  const volumes: Volume[] = [];
  const mounts = given.flatMap((one, index): Mount[] => {
    const path = ["volumes", index];
    if (typeof one === "string" && /^[A-Za-z]:\\/.test(one)) {
      refuse("is a path of Windows: name a directory of this host", path);
      return [];
    }
    const { source, target, readOnly, memory, noCopy, isMade, unknown = [] } = longForm(one);
    if (memory !== undefined) {
      if (source !== undefined) refuse("what is in memory has no source", path);
      volumes.push({ name: `memory-${index}`, medium: "memory", ...memory });
      return [{ volume: `memory-${index}`, target, readOnly }];
    }
    if (unknown.length > 0) refuse(`there is no option ${unknown.join(" and ")} of a mount`, path);
    if (!target.startsWith("/")) refuse(`${target} is no absolute path of the container`, path);
    if (source === undefined) {
      const name = `anonymous-${index}`;
      volumes.push({ name });
      return [{ volume: name, target, readOnly, noCopy }];
    }
    if (source === "") {
      refuse("names no source", path);
      return [];
    }
    if (!/^[./~]/.test(source)) {
      const volume = project.volumes?.[source];
      const name = engineName(source);
      if (volume === undefined) refuse(`the file has no volume ${source}`, path);
      else if (!volumes.some((other) => other.name === name)) volumes.push({ name, kept: engineName(volume?.name ?? source) });
      return [{ volume: name, target, readOnly, ...(noCopy ? { noCopy } : {}) }];
    }
    const home = environment["HOME"];
    if (/^~(?!\/|$)/.test(source) || (source.startsWith("~") && home === undefined)) {
      refuse("write the path in full: whose home is meant is not known", path);
      return [];
    }
    const full = absolute(directory, source.replace(/^~/, home ?? ""));
    if (isMade) needs(full);
    return [{ source: full, target, readOnly }];
  });
  for (const [index, text] of (typeof tmpfs === "string" ? [tmpfs] : tmpfs).entries()) {
    const name = `tmpfs-${index}`;
    const [target = "", options = ""] = text.split(":");
    const wrong = options.split(",").filter((option) => option !== "" && !/^size=\d+[bkmg]?$|^mode=1?777$/.test(option));
    if (wrong.length > 0) refuse(`only size=N and mode=1777 are supported, not ${wrong.join(" and ")}`, ["tmpfs", index]);
    const [, size] = /(?:^|,)size=(\d+[bkmg]?)/.exec(options) ?? [];
    volumes.push({ name, medium: "memory", ...(size === undefined ? {} : { size: bytesOf(size) }) });
    mounts.push({ volume: name, target });
  }
  return { volumes, mounts };
}

/** Options of the short form. `z` and `Z` are of SELinux, and the others say what holds without them. */
const SHORT = ["ro", "rw", "z", "Z", "nocopy", "copy", "cached", "delegated", "consistent", "rprivate"];

interface LongForm {
  readonly source: string | undefined;
  readonly target: string;
  readonly readOnly: boolean;
  readonly noCopy: boolean;
  /** Whether a missing directory of the host is made. */
  readonly isMade: boolean;
  readonly memory?: { readonly size?: number };
  /** Options that are none. */
  readonly unknown?: readonly string[];
}

function longForm(one: NonNullable<ServiceInput["volumes"]>[number]): LongForm {
  if (typeof one !== "string") {
    const { source, target, read_only: readOnly = false, type, tmpfs, volume, bind } = one;
    const size = tmpfs?.size === undefined ? {} : { size: bytesOf(tmpfs.size) };
    const memory = type === "tmpfs" ? { memory: size } : {};
    // Of a bind mount a name without a slash is a path, too.
    const path = type === "bind" && source !== undefined && !/^[./~]/.test(source) ? `./${source}` : source;
    return { source: path, target, readOnly, noCopy: volume?.nocopy === true, isMade: bind?.create_host_path ?? false, ...memory };
  }
  const [first = "", second, options = ""] = one.split(":");
  if (second === undefined) return { source: undefined, target: first, readOnly: false, noCopy: false, isMade: false };
  const words = options.split(",").filter(Boolean);
  const unknown = words.filter((word) => !SHORT.includes(word));
  return { source: first, target: second, readOnly: words.includes("ro"), noCopy: words.includes("nocopy"), isMade: true, unknown };
}
