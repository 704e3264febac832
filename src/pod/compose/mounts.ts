/** Translates volumes and ports of a service. */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { Environment } from "./interpolate.ts";
import { absolute } from "./paths.ts";
import { bytesOf } from "./quantity.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

/** The inputs of the translation of one service. */
export interface ServicePlace {
  readonly environment: Environment;
  /** Absolute directory to which paths in the file are relative. */
  readonly directory: string;
  readonly images: string | undefined;
  /** @throws the error of open(2) or read(2) */
  readonly readFile: (path: string) => Buffer;
  /** Whether a service of this name is enabled by the active profiles. */
  readonly isActive: (service: string) => boolean;
  /** @param path within the service */
  readonly refuse: (message: string, path: readonly (string | number)[]) => void;
}

type Volume = NonNullable<TaskInput["volumes"]>[number];
type Mount = NonNullable<TaskInput["containers"][number]["mounts"]>[number];
type Mapping = NonNullable<NonNullable<TaskInput["network"]>["ports"]>[number];

export function mountsOf(
  { volumes: given = [], tmpfs = [] }: ServiceInput,
  project: ComposeInput,
  { directory, refuse }: ServicePlace,
): { volumes: Volume[]; mounts: Mount[] } {
  const volumes: Volume[] = [];
  const mounts = given.flatMap((one, index): Mount[] => {
    const { source, target, readOnly, memory, noCopy } = longForm(one);
    const path = ["volumes", index];
    if (memory !== undefined) {
      if (source !== undefined) refuse("what is in memory has no source", path);
      volumes.push({ name: `memory-${index}`, medium: "memory", ...memory });
      return [{ volume: `memory-${index}`, target, readOnly }];
    }
    if (source === undefined) {
      const name = `anonymous-${index}`;
      volumes.push({ name });
      return [{ volume: name, target, readOnly, noCopy }];
    }
    if (!/^[./~]/.test(source)) {
      if (project.volumes?.[source] === undefined) refuse(`the file has no volume ${source}`, path);
      else if (!volumes.some(({ name }) => name === source)) volumes.push({ name: source, kept: source });
      return [{ volume: source, target, readOnly, ...(noCopy ? { noCopy } : {}) }];
    }
    if (source.startsWith("~")) {
      refuse("write the path in full: whose home is meant is not known", path);
      return [];
    }
    return [{ source: absolute(directory, source), target, readOnly }];
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

function longForm(one: NonNullable<ServiceInput["volumes"]>[number]) {
  if (typeof one !== "string") {
    const { source, target, read_only: readOnly = false, type, tmpfs, volume } = one;
    const size = tmpfs?.size === undefined ? {} : { size: bytesOf(tmpfs.size) };
    return { source, target, readOnly, noCopy: volume?.nocopy === true, ...(type === "tmpfs" ? { memory: size } : {}) };
  }
  const [first = "", second, options = ""] = one.split(":");
  if (second === undefined) return { source: undefined, target: first, readOnly: false, noCopy: false };
  const words = options.split(",");
  return { source: first, target: second, readOnly: words.includes("ro"), noCopy: words.includes("nocopy") };
}

const PORT = /^(?:(?:(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):)?(\d+):)?(\d+)(?:\/(tcp|udp))?$/i;

export function portsOf({ ports = [], network_mode: mode }: ServiceInput, { refuse }: ServicePlace): Mapping[] {
  if (ports.length > 0 && mode !== undefined) refuse(`with network_mode ${mode} there is nothing to publish`, ["ports"]);
  return ports.flatMap((one, index): Mapping[] => {
    const found = typeof one === "object" ? fromLong(one) : fromShort(String(one));
    if (found === undefined) refuse('write a port like "8080:80" or "127.0.0.1:53:53/udp", and no ranges', ["ports", index]);
    return found === undefined || mode !== undefined ? [] : [found];
  });
}

/** undefined: the text has another form. The host port must be given, because the engine does not choose one. */
function fromShort(text: string): Mapping | undefined {
  const [, address, host, container, protocol = "tcp"] = PORT.exec(text) ?? [];
  if (host === undefined || container === undefined) return undefined;
  return {
    container: Number(container),
    host: Number(host),
    protocol: protocol.toLowerCase() === "udp" ? "udp" : "tcp",
    ...(address === undefined ? {} : { address: address.replace(/[[\]]/g, "") }),
  };
}

function fromLong(one: Exclude<NonNullable<ServiceInput["ports"]>[number], string | number>): Mapping | undefined {
  const host = Number(one.published);
  if (!Number.isInteger(host)) return undefined;
  return {
    container: one.target,
    host,
    protocol: one.protocol ?? "tcp",
    ...(one.host_ip === undefined ? {} : { address: one.host_ip }),
  };
}
