/** A container in a machine: what is compiled and executed here is the host's side of it. */
import { type ContainerConfig, deriveConfig } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { DEFAULT_SETTINGS, GUEST, ISOLATION, KNOWN, type MachineSettings, parseSettings, splitSpec } from "../machine/sides/index.ts";
import { absolutePath, type Spec } from "../spec/index.ts";
import type { CreateOptions } from "./options.ts";
import { refuseHostNamespaces, sandboxMachine } from "./sandbox-machine.ts";

/** The operator's configuration; a variable of this name says another file. */
const SETTINGS_FILE = "/etc/runt/vm.json";
const SETTINGS_VARIABLE = "RUNT_VM_CONFIG";

/** @throws RuntError also for what a machine cannot do */
export function deriveInMachine(spec: Spec, { bundle, id, isolation, root = "" }: CreateOptions): ContainerConfig {
  const asked = isolation ?? spec.annotations?.[ISOLATION] ?? "vm";
  // The verbs that come later look at the annotation.
  if (asked === "host") return deriveConfig({ ...spec, annotations: { ...spec.annotations, [ISOLATION]: "host" } }, { bundle });
  if (asked !== "vm") throw new RuntError("usage", `isolation "${asked}": use host or vm`);
  if (host.geteuid() !== 0) throw new RuntError("not-supported", "only root can make a container in a machine");
  const sandbox = sandboxMachine(spec, root);
  if (!sandbox) refuseHostNamespaces(spec);
  const sides = splitSpec(spec, {
    ...(sandbox && { sandbox }),
    inBundle: (path) => absolutePath(bundle, path),
    id,
    hasKvm: host.stat("/dev/kvm") !== undefined,
    kvmFails: knownToFail(),
    settings: readSettings(),
    runt: host.readlink("/proc/self/exe"),
  });
  const config = deriveConfig(sides.host, { bundle });
  const warnings = sides.warnings.map(({ message, pointer }) => ({ code: "machine", pointer, message }));
  const guest = deriveConfig(sides.guest, { bundle: GUEST.bundle });
  return { ...config, guest, warnings: [...warnings, ...config.warnings] };
}

/** The first machine of each boot of the host tries KVM, and leaves there what came of it (src/runtime/machine/boot/accelerator.ts). */
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
