/** Which security modules this host has enabled. */
import * as host from "../host/index.ts";

const SELINUX_MAGIC = 0xf97c_ff8c;

/** kernel.org, AppArmor module parameters: "Y" when the module is active. (No limit: stat(2) has 4096 bytes for every file of sysfs.) */
export function apparmorEnabled(): boolean {
  const path = "/sys/module/apparmor/parameters/enabled";
  return host.stat(path) !== undefined && host.readFile(path, undefined, true).startsWith("Y");
}

/** selinuxfs is mounted exactly where a policy can be loaded; its absence is what selinux(8) calls disabled. */
export function selinuxEnabled(): boolean {
  const path = "/sys/fs/selinux";
  return host.stat(path) !== undefined && host.statfsType(path) >>> 0 === SELINUX_MAGIC;
}
