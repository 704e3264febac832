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

/** Directories in which the setuid programs are looked for: PATH is the caller's, these are the administrator's. */
const DIRECTORIES = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/**
 * The setuid programs of shadow-utils: newuidmap(1), newgidmap(1). Absolute path, undefined if there
 * is none.
 */
export function findIdProgram(name: "newuidmap" | "newgidmap"): string | undefined {
  return DIRECTORIES.map((directory) => `${directory}/${name}`).find((path) => host.stat(path) && host.access(path, host.ACCESS.EXECUTE));
}
