/** Devices of the host that a container gets, by their paths and by the names of CDI specifications. They are looked at for each launch: devices come and go. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type Device, type DeviceRule, deviceOf } from "../../../executor/index.ts";
import { specOf, type TaskRecord } from "../../model/index.ts";
import {
  type CdiEdits,
  type CdiNode,
  type CdiSpecification,
  cdiEdits,
  type DevicePlacement,
  type Incarnation,
  parseCdi,
} from "../../plan/index.ts";
import type { ContainerSpec } from "../../spec/index.ts";
import type { Contribution, TaskResource } from "./resource.ts";

/** A later one takes precedence. Source: Container Device Interface, "Specification files". */
const CDI_DIRECTORIES = ["/etc/cdi", "/var/run/cdi"];
/** In bytes. A larger file is no specification. */
const LARGEST = 4 << 20;
/** In a directory. */
const MOST_FILES = 1000;
/** Broken specifications that one message lists. */
const MOST_TOLD = 3;

export class Devices implements TaskResource {
  readonly name = "devices";
  readonly #directories: readonly string[];
  readonly #tell: (message: string) => void;

  /** @param tell is called with what a specification says and has no effect */
  constructor(directories: readonly string[] = CDI_DIRECTORIES, tell: (message: string) => void = () => {}) {
    this.#directories = directories;
    this.#tell = tell;
  }

  paths(record: TaskRecord, container: string): readonly string[] {
    const { devices = [], blockIo } = specOf(record, container) ?? {};
    return [...devices.map(({ source }) => source), ...(blockIo?.devices ?? []).map(({ path }) => path)];
  }

  check(record: TaskRecord, container: string): void {
    this.#placement(specOf(record, container));
  }

  contribute(record: TaskRecord, { container }: Incarnation): Contribution {
    const devices = this.#placement(specOf(record, container), this.#tell);
    return devices === undefined ? {} : { devices };
  }

  /** A broken file is fatal only for those who name a device that no other file has. Source: Container Device Interface, pkg/cdi, Cache. */
  #edits(names: readonly string[], tell: (message: string) => void): CdiEdits {
    const found = this.#directories.map(specificationsIn);
    const left = found.flatMap(({ left: messages }) => messages);
    let edits: CdiEdits;
    try {
      edits = cdiEdits(
        names,
        found.map(({ specifications }) => specifications),
      );
    } catch (error) {
      const others = left.length > MOST_TOLD ? [...left.slice(0, MOST_TOLD), `${left.length - MOST_TOLD} more`] : left;
      if (left.length === 0) throw error;
      throw new Error(`${(error as Error).message}; left out: ${others.join("; ")}`, { cause: error });
    }
    for (const message of left) tell(`left out: ${message}`);
    for (const message of edits.ignored) tell(message);
    return edits;
  }

  /** @throws Error: a device is missing; the message has its path or name */
  #placement(spec: ContainerSpec | undefined, tell: (message: string) => void = () => {}): DevicePlacement | undefined {
    const { devices = [], deviceRules = [], cdi = [], blockIo } = spec ?? {};
    if (devices.length + deviceRules.length + cdi.length === 0 && blockIo === undefined) return undefined;
    const edits = cdi.length === 0 ? undefined : this.#edits(cdi, tell);
    return {
      nodes: [
        ...devices.flatMap(({ source, target = source, access }) => nodesAt(source, target, access === undefined ? {} : { access })),
        ...(edits?.nodes ?? []).map(cdiNode),
      ],
      rules: deviceRules.map(ruleOf),
      env: edits?.env ?? {},
      mounts: edits?.mounts ?? [],
      gids: edits?.gids ?? [],
      ...(edits?.hooks === undefined ? {} : { hooks: edits.hooks }),
      ...(blockIo === undefined ? {} : { blockIO: blockIoOf(blockIo) }),
    };
  }
}

/** Fields of the specification, by what limits one device. */
const THROTTLES = {
  readBps: "throttleReadBpsDevice",
  writeBps: "throttleWriteBpsDevice",
  readIops: "throttleReadIOPSDevice",
  writeIops: "throttleWriteIOPSDevice",
} as const;

/** Source: runtime specification, "Block IO". @throws Error: one of them is no block device */
function blockIoOf({ weight, devices = [] }: NonNullable<ContainerSpec["blockIo"]>): NonNullable<DevicePlacement["blockIO"]> {
  const found = devices.map(({ path, ...limits }) => {
    const info = statSync(path, { throwIfNoEntry: false });
    const device = info === undefined ? undefined : deviceOf(info);
    if (device?.type !== "b") throw new Error(info === undefined ? `there is no device ${path}` : `${path} is no block device`);
    return { major: device.major, minor: device.minor, ...limits };
  });
  const weights = found.flatMap(({ major, minor, weight: own }) => (own === undefined ? [] : [{ major, minor, weight: own }]));
  const throttles = Object.entries(THROTTLES).flatMap(([field, name]) => {
    const all = found.flatMap(({ major, minor, ...limits }) => {
      const rate = limits[field as keyof typeof THROTTLES];
      return rate === undefined ? [] : [{ major, minor, rate }];
    });
    return all.length === 0 ? [] : [[name, all] as const];
  });
  return {
    ...(weight === undefined ? {} : { weight }),
    ...(weights.length === 0 ? {} : { weightDevice: weights }),
    ...Object.fromEntries(throttles),
  };
}

/** A device, or those below a directory. A link is followed, because names of devices are often links. @throws Error: there is none */
function nodesAt(source: string, target: string, access: Pick<Device, "access">): Device[] {
  const info = statSync(source, { throwIfNoEntry: false });
  if (info === undefined) throw new Error(`there is no device ${source}`);
  if (!info.isDirectory()) {
    const device = deviceOf(info);
    if (device === undefined) throw new Error(`${source} is no device`);
    return [{ path: target, ...device, ...access }];
  }
  const devices = filesBelow(source).flatMap((path) => {
    const device = deviceOf(statSync(join(source, path), { throwIfNoEntry: false }) ?? info);
    return device === undefined ? [] : [{ path: join(target, path), ...device, ...access }];
  });
  if (devices.length === 0) throw new Error(`${source} has no devices in it`);
  return devices;
}

/** Links to other directories are not followed. @throws Error: there are too many */
function filesBelow(directory: string): string[] {
  const files: string[] = [];
  const waiting = [""];
  let seen = 0;
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of readdirSync(join(directory, at), { withFileTypes: true })) {
      if (++seen > MOST_FILES) throw new Error(`${directory} has more than ${MOST_FILES} files in it`);
      (entry.isDirectory() ? waiting : files).push(join(at, entry.name));
    }
  }
  return files.sort();
}

/** What a specification leaves out is that of the node on the host. @throws Error: there is none */
function cdiNode({ path, hostPath = path, permissions, type, major, minor, fileMode, uid, gid }: CdiNode): Device {
  const access = permissions ? { access: permissions } : {};
  const owner = { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) };
  const mode = fileMode === undefined ? {} : { fileMode };
  const kind = type === "u" ? "c" : type;
  if (kind !== undefined && (kind === "p" || (major !== undefined && minor !== undefined)))
    return { path, type: kind, ...(kind === "p" ? {} : { major: major!, minor: minor! }), ...mode, ...owner, ...access };
  const [node] = nodesAt(hostPath, path, access);
  if (node === undefined || node.path !== path) throw new Error(`${hostPath} is no device`);
  return { ...node, ...mode, ...owner };
}

/** Source: runtime specification, "Device Cgroup". */
function ruleOf(text: string): DeviceRule {
  const [type, numbers = "", access] = text.split(" ");
  const [major, minor] = numbers.split(":").map((one) => (one === "*" ? undefined : Number(one)));
  return {
    type: type as "a" | "b" | "c",
    ...(major === undefined ? {} : { major }),
    ...(minor === undefined ? {} : { minor }),
    access: access!,
  };
}

interface Specifications {
  readonly specifications: CdiSpecification[];
  /** Why a file, or the whole directory, was left out. Each message has the path. */
  readonly left: string[];
}

function specificationsIn(directory: string): Specifications {
  const all: Specifications = { specifications: [], left: [] };
  let fd: number | undefined;
  try {
    fd = openDirectory(directory);
    if (fd === undefined) return all;
    const names = readdirSync(`/proc/self/fd/${fd}`).filter((name) => /\.(?:json|ya?ml)$/.test(name));
    if (names.length > MOST_FILES) throw new Error(`${directory} has more than ${MOST_FILES} CDI specifications`);
    for (const name of names.sort()) {
      try {
        all.specifications.push(parseCdi(parse(readTrusted(`/proc/self/fd/${fd}/${name}`))));
      } catch (error) {
        all.left.push(`CDI specification ${join(directory, name)}: ${whyOf(error)}`);
      }
    }
  } catch (error) {
    all.left.push((error as Error).message);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
  return all;
}

function whyOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ELOOP" ? "it is a link, which could lead to another file" : message;
}

/** Names come from it, so that others must not make, replace or link files there. undefined: there is none. @throws Error */
function openDirectory(directory: string): number | undefined {
  let fd: number;
  try {
    fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(code === "ENOTDIR" ? `${directory} is no directory, or a link` : (error as Error).message, { cause: error });
  }
  if (isTrusted(fstatSync(fd))) return fd;
  closeSync(fd);
  throw new Error(`CDI specifications of ${directory}: ${WRITABLE}`);
}

const WRITABLE = "others than root and the user of the daemon can write it";

/** A specification names programs that run with the rights of the daemon, so that nobody else may write it. */
function isTrusted({ uid, mode }: Stats): boolean {
  return [0, process.getuid!()].includes(uid) && (mode & 0o022) === 0;
}

function readTrusted(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY);
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw new Error("it is no regular file");
    if (found.size > LARGEST) throw new Error(`it is larger than ${LARGEST} bytes`);
    if (!isTrusted(found)) throw new Error(WRITABLE);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}
