/** Translates volumes of a service. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { dockerHub, GAP, imageReference, pullPolicyOf, withoutGaps } from "../image-name.ts";
import { isOfMemory, type MemoryOptions, MOST_MODE, memoryOptions } from "./memory.ts";
import { absolute, hostPath, placeOf } from "./paths.ts";
import { engineName, type ServicePlace } from "./place.ts";
import { bytesOf } from "./quantity.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";
import { PROPAGATIONS } from "./schema-parts.ts";

type Volume = NonNullable<TaskInput["volumes"]>[number];
type Mount = NonNullable<TaskInput["containers"][number]["mounts"]>[number];

export function mountsOf(
  { volumes: given = [], tmpfs = [] }: ServiceInput,
  project: ComposeInput,
  place: ServicePlace,
): { volumes: Volume[]; mounts: Mount[] } {
  const { refuse, warn, needs } = place;
  const volumes: Volume[] = [];
  const mounts = given.flatMap((one, index): Mount[] => {
    const path = ["volumes", index];
    if (/^(?:[A-Za-z]:)?\\/.test((typeof one === "string" ? one : one.source) ?? "")) {
      refuse("is a path of Windows: name a directory of this host", path);
      return [];
    }
    if (typeof one === "string" && (one.split(":").length > 3 || one.endsWith(":"))) {
      refuse('write a volume like "./data:/data:ro"', path);
      return [];
    }
    if (typeof one !== "string" && one.type === "image") {
      const found = imageOf(one, index, place);
      if (found !== undefined) volumes.push(found.volume);
      return found === undefined ? [] : [found.mount];
    }
    const { source, target: written, readOnly, memory, noCopy, isMade, propagation, subpath, unknown = [] } = longForm(one);
    const target = placeOf(written);
    const part = partOf(subpath);
    if (part === undefined) refuse("is no path inside the volume", [...path, "volume", "subpath"]);
    const inner = part ? { subPath: part } : {};
    const passed = propagation === undefined ? {} : { propagation };
    if (memory !== undefined) {
      if (source !== undefined) refuse("what is in memory has no source", path);
      if ((memory.mode ?? 0) > MOST_MODE)
        refuse(`${memory.mode} is no mode: it is a decimal number, and 0${memory.mode} is octal`, [...path, "tmpfs", "mode"]);
      volumes.push({ name: `memory-${index}`, medium: "memory", ...memory });
      return [{ volume: `memory-${index}`, target, readOnly }];
    }
    if (unknown.length > 0) warn(`has no effect, as with Compose: there is no option ${unknown.join(" and ")} of a mount`, path);
    if (!target.startsWith("/")) refuse(`${target} is no absolute path of the container`, path);
    if (propagation !== undefined && (source === undefined || !/^[./~]/.test(source)))
      refuse(`${propagation} is of directories of the host, and not of volumes`, path);
    if (source === undefined) {
      const name = `anonymous-${index}`;
      volumes.push({ name });
      return [{ volume: name, target, readOnly, noCopy, ...inner }];
    }
    if (source === "") {
      refuse("names no source", path);
      return [];
    }
    if (!/^[./~]/.test(source)) {
      const volume = project.volumes?.[source];
      const name = engineName(source);
      const local = volume?.driver_opts;
      if (local?.type !== undefined) {
        if (part !== "") refuse("a part of a file system cannot be mounted: name it in device", [...path, "volume", "subpath"]);
        const { type, device, options } = local;
        const filesystem = { type, device, ...(options === "" ? {} : { options }) };
        if (!volumes.some((other) => other.name === name)) volumes.push({ name, filesystem });
        return [{ volume: name, target, readOnly }];
      }
      if (local !== undefined && "device" in local)
        return [{ source: absolute(hostPath(place, local.device, path), part ?? ""), target, readOnly: readOnly || local.readOnly }];
      if (local !== undefined && isOfSeveral(source, project, place)) refuse("what is in memory is of one container", path);
      if (volume === undefined) refuse(`the file has no volume ${source}`, path);
      else if (local !== undefined) volumes.push({ name, medium: "memory", ...local.memory });
      else if (!volumes.some((other) => other.name === name)) volumes.push({ name, ...keptAs(source, volume) });
      return [{ volume: name, target, readOnly, ...(noCopy ? { noCopy } : {}), ...inner }];
    }
    const full = hostPath(place, source, path);
    if (isMade) needs(full);
    return [{ source: full, target, readOnly, ...passed }];
  });
  for (const [index, text] of (typeof tmpfs === "string" ? [tmpfs] : tmpfs).entries()) {
    const name = `tmpfs-${index}`;
    const [written = "", options = ""] = text.split(":");
    const target = placeOf(written);
    const all = options.split(",").filter(Boolean);
    volumes.push({ name, medium: "memory", ...memoryOptions(all) });
    mounts.push({ volume: name, target, ...tmpfsOptions(all, index, place) });
  }
  return { volumes, mounts };
}

/** Mounts the files of an image, read-only. undefined: the mount was refused. Source: Docker, "docker run --mount type=image". */
function imageOf(
  { source = "", target, image }: Exclude<NonNullable<ServiceInput["volumes"]>[number], string>,
  index: number,
  { images, lacks, refuse }: ServicePlace,
): { readonly volume: Volume; readonly mount: Mount } | undefined {
  const whole = withoutGaps(source);
  if (whole !== source) lacks(GAP, ["volumes", index]);
  const reference = imageReference(whole, images ?? dockerHub(whole));
  if (reference === undefined) {
    refuse("names no image as its source", ["volumes", index]);
    return undefined;
  }
  const name = `image-${index}`;
  const part = image?.subpath?.replace(/^\/+|\/+$/g, "") || undefined;
  return {
    volume: { name, image: reference, pullPolicy: pullPolicyOf(undefined, source) },
    mount: { volume: name, target, readOnly: true, ...(part === undefined ? {} : { subPath: part }) },
  };
}

/** An external volume must exist: the engine does not make it. */
function keptAs(key: string, volume: NonNullable<ComposeInput["volumes"]>[string]): Pick<Volume, "kept" | "existing"> {
  const { external, name } = volume ?? {};
  const own = typeof external === "object" ? (external.name ?? name) : name;
  const isExternal = external !== undefined && external !== false;
  return { kept: engineName(own || key), ...(isExternal ? { existing: true as const } : {}) };
}

/** Whether more than one container uses a volume. */
function isOfSeveral(volume: string, project: ComposeInput, { isActive, containersOf }: ServicePlace): boolean {
  const users = Object.entries(project.services).filter(
    ([key, { volumes = [] }]) => isActive(key) && volumes.some((one) => longForm(one).source === volume),
  );
  return users.flatMap(([key]) => containersOf(key)).length > 1;
}

/** Options that a directory in memory has in any case. */
const ANYWAY = ["rw", "exec", "nosuid", "nodev", "noatime"];

/** Source: mount(8), "Mount options for tmpfs". */
function tmpfsOptions(options: readonly string[], index: number, { refuse }: ServicePlace): Pick<Mount, "readOnly" | "noExec"> {
  const wrong = options.filter((one) => !ANYWAY.includes(one) && !["ro", "noexec"].includes(one) && !isOfMemory(one));
  if (wrong.length > 0)
    refuse(`only size, mode, uid, gid, ro, rw, noexec, nosuid and nodev are supported, not ${wrong.join(" and ")}`, ["tmpfs", index]);
  return {
    ...(options.includes("ro") ? { readOnly: true } : {}),
    ...(options.includes("noexec") ? { noExec: true as const } : {}),
  };
}

/** Options of the short form. `ro`, `nocopy` and propagations have an effect. `z` and `Z` are for SELinux; the others say what holds in any case. */
const SHORT: readonly string[] = ["ro", "rw", "z", "Z", "nocopy", "copy", "cached", "delegated", "consistent", ...PROPAGATIONS];

/** Whether the short form of a mount has such an option. */
export const isShortOption = (word: string): boolean => SHORT.includes(word);

type Propagation = (typeof PROPAGATIONS)[number];

interface LongForm {
  readonly source: string | undefined;
  readonly target: string;
  readonly readOnly: boolean;
  readonly noCopy: boolean;
  /** Whether a missing host directory is created. */
  readonly isMade: boolean;
  readonly memory?: MemoryOptions;
  readonly propagation?: Propagation | undefined;
  /** The part of the volume that is mounted, as it is written. */
  readonly subpath?: string | undefined;
  /** Options that are none. */
  readonly unknown?: readonly string[];
}

function longForm(one: NonNullable<ServiceInput["volumes"]>[number]): LongForm {
  if (typeof one !== "string") {
    const { source, target, read_only: readOnly = false, type, tmpfs, volume, bind } = one;
    // 0 means the default size of the kernel.
    const bytes = tmpfs?.size === undefined ? 0 : bytesOf(tmpfs.size);
    const size = bytes === 0 ? {} : { size: bytes };
    const mode = tmpfs?.mode === undefined ? {} : { mode: tmpfs.mode };
    const memory = type === "tmpfs" ? { memory: { ...size, ...mode } } : {};
    // The source of a bind mount is always a path, also if it has no slash.
    const path = type === "bind" && source !== "" && !/^[./~]/.test(source ?? ".") ? `./${source}` : source;
    return {
      source: type === "bind" ? (path ?? "") : path,
      target,
      readOnly,
      noCopy: volume?.nocopy === true,
      isMade: bind?.create_host_path ?? false,
      propagation: passedOn(bind?.propagation),
      subpath: volume?.subpath,
      ...memory,
    };
  }
  const [first = "", second, options = ""] = one.split(":");
  if (second === undefined) return { source: undefined, target: first, readOnly: false, noCopy: false, isMade: false };
  const words = options.split(",").filter(Boolean);
  const unknown = words.filter((word) => !isShortOption(word));
  const propagation = passedOn(PROPAGATIONS.find((one) => words.includes(one)));
  return {
    source: first,
    target: second,
    readOnly: words.includes("ro"),
    noCopy: words.includes("nocopy"),
    isMade: true,
    propagation,
    unknown,
  };
}

/** Without "." and double slashes; "": the whole volume. undefined: it leads out of the volume. Source: Go, filepath.IsLocal. */
function partOf(subpath = ""): string | undefined {
  const parts = subpath.split("/").filter((part) => part !== "" && part !== ".");
  return subpath.startsWith("/") || parts.includes("..") ? undefined : parts.join("/");
}

/** undefined: as the engine has it. */
function passedOn(propagation: Propagation | undefined): Propagation | undefined {
  return propagation === "rprivate" ? undefined : propagation;
}
