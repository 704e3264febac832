/** What config.json and the caller ask for becomes what is made on the host, and in the machine if there is one. */
import { type ContainerConfig, type DeviceNumber, deriveConfig } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { absolutePath, type Spec } from "../spec/index.ts";
import { refuseHostNamespaces, sandboxMachine } from "./asked/sandbox.ts";
import { DEFAULT_SETTINGS, type MachineSettings, parseSettings } from "./asked/settings.ts";
import type { HostNode } from "./configurations/devices.ts";
import { ISOLATION } from "./configurations/host.ts";
import { sharedMemoryKiB } from "./configurations/shared-memory.ts";
import { splitSpec } from "./configurations/split.ts";
import { GUEST, KNOWN } from "./places.ts";

/** The operator's configuration; a variable of this name says another file. */
const SETTINGS_FILE = "/etc/runt/vm.json";
const SETTINGS_VARIABLE = "RUNT_VM_CONFIG";

/** What of a container that is to be made decides where it runs. */
interface AskedContainer {
  readonly id: string;
  /** Absolute bundle directory. */
  readonly bundle: string;
  /** When the caller says it; config.json may say it in an annotation. */
  readonly isolation?: string;
  /** The state root: where the sandbox is whose machine it joins. */
  readonly root?: string;
}

/** @throws RuntError also for what a machine cannot do */
export function deriveWhereAsked(spec: Spec, container: AskedContainer): ContainerConfig {
  const { bundle } = container;
  const isolation = container.isolation ?? spec.annotations?.[ISOLATION];
  if (!isolation) return deriveConfig(spec, { bundle });
  // `state` shows the annotation, and builds before 1.4 of the state record go by it.
  if (isolation === "host") return deriveConfig({ ...spec, annotations: { ...spec.annotations, [ISOLATION]: isolation } }, { bundle });
  if (isolation !== "vm") throw new RuntError("usage", `isolation "${isolation}": use host or vm`);
  return deriveInMachine(spec, container);
}

function deriveInMachine(spec: Spec, { bundle, id, root = "" }: AskedContainer): ContainerConfig {
  if (host.geteuid() !== 0) throw new RuntError("not-supported", "only root can make a container in a machine");
  const sandbox = sandboxMachine(spec, root);
  if (!sandbox) refuseHostNamespaces(spec);
  const inBundle = (path: string): string => absolutePath(bundle, path);
  const memory = sandbox ? undefined : sharedMemoryKiB(spec, host.readFile("/proc/self/mountinfo", undefined, true), inBundle);
  const sides = splitSpec(spec, {
    ...(sandbox && { sandbox }),
    ...(memory !== undefined && { sharedMemoryKiB: memory }),
    inBundle,
    id,
    nodeAt,
    isReadonly: isReadonlyDevice,
    hasKvm: host.stat("/dev/kvm") !== undefined,
    kvmFails: knownToFail(),
    settings: readSettings(),
    runt: host.readlink("/proc/self/exe"),
  });
  const config = deriveConfig(sides.host, { bundle });
  const warnings = sides.warnings.map(({ message, pointer }) => ({ code: "machine", pointer, message }));
  const guest = deriveConfig(sides.guest, { bundle: GUEST.bundle });
  return { ...config, guest, machine: sides.machine, warnings: [...warnings, ...config.warnings] };
}

/** The first machine of each boot of the host tries KVM, and leaves there what came of it (src/runtime/isolation/boot/accelerator.ts). */
function knownToFail(): boolean {
  try {
    return (
      (JSON.parse(host.readFile(`${KNOWN.directory}/${KNOWN.file}`)) as { readonly accelerator?: unknown } | null)?.accelerator === "tcg"
    );
  } catch (error) {
    if (error instanceof SyntaxError || host.isErrno(error, "ENOENT")) return false;
    throw error;
  }
}

const [CHARACTER, BLOCK] = [0o2, 0o6];

function nodeAt(path: string): HostNode | undefined {
  const found = statIfThere(path);
  const type = found === undefined ? undefined : { [CHARACTER]: "c" as const, [BLOCK]: "b" as const }[found.mode >> 12];
  return type && { type, major: found!.rdevMajor, minor: found!.rdevMinor };
}

/** What is wrong with a path its mount will say. */
function statIfThere(path: string): host.Stat | undefined {
  try {
    return host.stat(path);
  } catch (error) {
    if (error instanceof Error && "errno" in error) return undefined;
    throw error;
  }
}

/** False also where the host does not say. */
function isReadonlyDevice({ major, minor }: DeviceNumber): boolean {
  try {
    return host.readFile(`/sys/dev/block/${major}:${minor}/ro`, undefined, true).trim() === "1";
  } catch (error) {
    if (host.isErrno(error, "ENOENT")) return false;
    throw error;
  }
}

function readSettings(): MachineSettings {
  const given = host.getenv(SETTINGS_VARIABLE);
  const path = given || SETTINGS_FILE;
  try {
    return parseSettings(host.readFile(path), path);
  } catch (error) {
    if (!given && host.isErrno(error, "ENOENT")) return DEFAULT_SETTINGS;
    if (error instanceof RuntError) throw error;
    throw new RuntError("config-read", `${path}: ${host.reason(error as host.HostError)}`, { cause: error });
  }
}
