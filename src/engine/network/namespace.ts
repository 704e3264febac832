/** Network namespaces that are bound to a file, so that they exist independently of any process. */
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isMountPoint, mountsBelow, removeOwnFile } from "../../node/index.ts";
import { output } from "./command.ts";
import { whileHeld } from "./holder.ts";
import type { Together } from "./together.ts";

const IPV6 = "/proc/sys/net/ipv6";
/** Some hosts disable IPv6 in new namespaces, which would remove ::1 from the loopback interface. */
const PREPARE = `f=${IPV6}/conf/all/disable_ipv6; if [ -e $f ]; then echo 0 > $f || exit; fi; exec ip -batch -`;

export interface NewNamespace {
  /** File to bind it to. */
  readonly path: string;
  /** Addresses that cannot be reached from it. */
  readonly blocked: readonly string[];
  /** File of the user namespace that owns it; undefined: that of the host. */
  readonly users: string | undefined;
}

/** Makes a namespace, whose loopback is up, and binds it to a file. @throws NetworkError, the errors of open(2) */
export async function pinNamespace({ path, blocked, users }: NewNamespace, timeoutMs: number): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "wx", 0o600));
  if (users === undefined) {
    await output("unshare", [`--net=${path}`, "sh", "-c", PREPARE], timeoutMs, preparation(blocked));
    return;
  }
  // A process of the user namespace may make one that this owns, and may not mount.
  await whileHeld(["nsenter", `--user=${users}`, "unshare", "--net"], timeoutMs, (pid) =>
    output("mount", ["--bind", `/proc/${pid}/ns/net`, path], timeoutMs),
  );
  await prepareNamespace({ path, blocked }, timeoutMs);
}

/** Of one that is there: its loopback, and what is blocked. May be repeated. @throws NetworkError */
export async function prepareNamespace({ path, blocked }: Omit<NewNamespace, "users">, timeoutMs: number): Promise<void> {
  await output("nsenter", [`--net=${path}`, "sh", "-c", PREPARE], timeoutMs, preparation(blocked));
}

/** For `ip -batch`. */
function preparation(blocked: readonly string[]): string {
  const reachable = blocked.filter((address) => !address.includes(":") || existsSync(IPV6));
  return ["link set lo up", ...reachable.map((address) => `route replace blackhole ${address}`), ""].join("\n");
}

/** `rules`: input of iptables-restore(8). @throws NetworkError program-missing, program-failed */
export async function addRules(path: string, rules: string, timeoutMs: number): Promise<void> {
  await output("nsenter", [`--net=${path}`, "iptables-restore", "--noflush"], timeoutMs, rules);
}

/** `routing`: input of `ip -batch`. @throws NetworkError program-missing, program-failed */
export async function addRouting(path: string, routing: string, timeoutMs: number): Promise<void> {
  await output("nsenter", [`--net=${path}`, "ip", "-batch", "-"], timeoutMs, routing);
}

/** Removes the namespace and everything in it. Succeeds if it does not exist. @param unmounting calls unmountNamespaces @throws NetworkError */
export async function unpinNamespace(path: string, unmounting: Together): Promise<void> {
  // An attempt that was killed while it made the namespace may have left more than one mount.
  for (let left = isPinned(path); left; left = isPinned(path))
    await unmounting.change([path]).catch((error) => {
      // Where one of several cannot be unmounted, the others are, and are then asked for once more.
      if (isPinned(path)) throw error;
    });
  removeOwnFile(path);
}

/** @throws NetworkError: one of them could not be unmounted */
export async function unmountNamespaces(paths: readonly string[], timeoutMs: number): Promise<void> {
  await output("umount", ["--lazy", ...paths], timeoutMs);
}

export function isPinned(path: string): boolean {
  return isMountPoint(path);
}

/** The files in a directory to which namespaces are bound. */
export function pinnedBelow(directory: string): string[] {
  return [...new Set(mountsBelow(directory))].map((point) => join(directory, basename(point)));
}
