/**
 * Devices of a container in a machine. A block device of the host becomes a disk of the machine (virtio-blk), a character device is the guest's own of
 * the same number. Pure.
 */
import { type DeviceNumber, guestCharacter, unfitCharacter, unfitDevice } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { Spec, SpecDevice } from "../../spec/index.ts";
import { GUEST, JAIL } from "../places.ts";
import type { Disk } from "../request.ts";
import { isBind } from "./volumes.ts";

/** A device node of the host. */
export interface HostNode extends DeviceNumber {
  readonly type: "b" | "c";
}

export interface DeviceFindings {
  /** The device node at the absolute path on the host; undefined: there is none, as without this function. */
  readonly nodeAt?: (path: string) => HostNode | undefined;
  /** The host lets nobody write to this block device. */
  readonly isReadonly?: (device: DeviceNumber) => boolean;
}

export interface DeviceParts {
  /** Each block device once, in the order of its first place. */
  readonly disks: readonly Disk[];
  /** Modules that the guest's kernel needs for the devices. */
  readonly modules: readonly string[];
  /** Bind mounts of device nodes, by their place in the list: the path of the same device in the guest. They are no volumes. */
  readonly sources: ReadonlyMap<number, string>;
}

interface Found extends DeviceNumber {
  readonly isReadonly: boolean;
}

/** @param inBundle makes a path of the configuration absolute @throws RuntError not-supported: a device that a guest cannot have */
export function deviceParts(
  spec: Spec,
  inBundle: (path: string) => string,
  { nodeAt = () => undefined, isReadonly = () => false }: DeviceFindings,
): DeviceParts {
  const found: Found[] = [];
  const modules = new Set<string>();
  const rules = spec.linux?.resources?.devices ?? [];
  (spec.linux?.devices ?? []).forEach((device, index) => {
    const why = unfitDevice(device);
    if (why !== undefined) refuse(`/linux/devices/${index}`, why);
    const number = numberOf(device);
    if (device.type === "b") found.push({ ...number, isReadonly: isReadonlyByRules(number, rules) ?? isReadonly(number) });
    else if (device.type !== "p") addModule(modules, number);
  });
  const sources = new Map<number, string>();
  (spec.mounts ?? []).forEach((mount, index) => {
    const node = isBind(mount) ? nodeAt(inBundle(mount.source ?? "")) : undefined;
    if (node === undefined) return;
    if (node.type === "b") {
      const isAsked = (mount.options ?? []).some((option) => option === "ro" || option === "rro");
      found.push({ ...node, isReadonly: isAsked || isReadonly(node) });
      sources.set(index, diskPath(node));
      return;
    }
    const own = guestCharacter(node);
    if (own === undefined) refuse(`/mounts/${index}/source`, unfitCharacter(node, mount.source ?? ""));
    addModule(modules, node);
    sources.set(index, own.path);
  });
  const disks = merged(found);
  if (disks.length > MOST_DISKS) refuse("/linux/devices", `more than ${MOST_DISKS} block devices`);
  return { disks, modules: [...(disks.length > 0 ? [BLOCK_MODULE] : []), ...modules], sources };
}

/** Slots of the machine's bus that are free for sure. */
const MOST_DISKS = 16;
const BLOCK_MODULE = "virtio_blk";

/** A device that is asked for twice is one disk, which can be written if one of them can. */
function merged(found: readonly Found[]): Disk[] {
  const disks = new Map<string, Disk>();
  for (const { major, minor, isReadonly } of found) {
    const key = `${major}:${minor}`;
    const before = disks.get(key);
    disks.set(key, { major, minor, readonly: isReadonly && (before?.readonly ?? true) });
  }
  return [...disks.values()];
}

function addModule(modules: Set<string>, number: DeviceNumber): void {
  const module = guestCharacter(number)?.module;
  if (module !== undefined) modules.add(module);
}

function numberOf({ major, minor }: SpecDevice): DeviceNumber {
  return { major: Number(major ?? 0), minor: Number(minor ?? 0) };
}

type Rules = NonNullable<NonNullable<NonNullable<Spec["linux"]>["resources"]>["devices"]>;

/** What the first rule says that allows exactly this device (Kata Containers asks the same); undefined: there is none. */
function isReadonlyByRules({ major, minor }: DeviceNumber, rules: Rules): boolean | undefined {
  const rule = rules.find(
    (each) =>
      each.allow && (each.type === "b" || each.type === "a" || !each.type) && Number(each.major) === major && Number(each.minor) === minor,
  );
  return rule && !(rule.access ?? "rwm").includes("w");
}

/** Where the guest has a link to the disk that is this device on the host. */
export function diskPath({ major, minor }: DeviceNumber): string {
  return `${GUEST.disks}/${major}:${minor}`;
}

/** The nodes in the jail that the hypervisor gets the disks by, and the rules that let it. */
export function diskNodes(disks: readonly Disk[]): SpecDevice[] {
  return disks.map(({ major, minor }, number) => ({
    ...{ path: `${JAIL.disks}${number}`, type: "b", major, minor },
    ...{ fileMode: 0o600, uid: 0, gid: 0 },
  }));
}

function refuse(pointer: string, what: string): never {
  throw new RuntError("not-supported", `a container in a machine cannot have ${what}`, { pointer });
}
