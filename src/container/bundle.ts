/** From a bundle directory to a ContainerConfig: load, check, derive. Nothing is changed on the host. */
import { type CheckFacts, checkSpec } from "../check/index.ts";
import { deriveConfig } from "../config/index.ts";
import type { ContainerConfig } from "../config/types.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { parseSpec } from "../spec/index.ts";
import { apparmorEnabled, selinuxEnabled } from "./lsm.ts";
import { netDevices } from "./on-demand.ts";
import { refuseHostNamespaces } from "./own-namespaces.ts";

export function loadBundle(bundle: string): ContainerConfig {
  const text = readConfig(`${bundle}/config.json`);
  const spec = parseSpec(text, host.hasLongNumber(text));
  const findings = checkSpec(spec, checkFacts());
  const config = deriveConfig(spec, { bundle });
  checkRootfs(config.rootfs);
  refuseHostNamespaces(config);
  if (config.netDevices.length > 0) netDevices().refuseMissingDevices(config.netDevices);
  return { ...config, warnings: [...findings, ...config.warnings] };
}

/** Looked up when a check asks. */
export function checkFacts(): CheckFacts {
  return {
    rootless: host.geteuid() !== 0,
    get apparmor() {
      return apparmorEnabled();
    },
    get selinux() {
      return selinuxEnabled();
    },
  };
}

function readConfig(path: string): string {
  try {
    return host.readFile(path);
  } catch (error) {
    throw new RuntError("config-read", `open ${path}: ${host.reason(error)}`, { cause: error });
  }
}

/** root.path must be an existing directory and not a symlink: the tree below it is hostile, the way to it is not. */
function checkRootfs(rootfs: string): void {
  const found = host.lstat(rootfs);
  if (!found) throw new RuntError("config-invalid", `root filesystem ${rootfs}: no such file or directory`, { pointer: "/root/path" });
  const type = found.mode >> 12;
  if (type === 0o12) throw new RuntError("config-invalid", `root filesystem ${rootfs}: is a symlink`, { pointer: "/root/path" });
  if (type !== 0o4) throw new RuntError("config-invalid", `root filesystem ${rootfs}: not a directory`, { pointer: "/root/path" });
}
