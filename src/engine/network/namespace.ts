/** Network namespaces that are bound to a file, so that they exist independently of any process. */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { output } from "./command.ts";
import { whileHeld } from "./holder.ts";

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
  const reachable = blocked.filter((address) => !address.includes(":") || existsSync(IPV6));
  const routes = reachable.map((address) => `route add blackhole ${address}`);
  const commands = ["link set lo up", ...routes, ""].join("\n");
  if (users === undefined) {
    await output("unshare", [`--net=${path}`, "sh", "-c", PREPARE], timeoutMs, commands);
    return;
  }
  // A process of the user namespace may make one that this owns, and may not mount.
  await whileHeld(["nsenter", `--user=${users}`, "unshare", "--net"], timeoutMs, (pid) =>
    output("mount", ["--bind", `/proc/${pid}/ns/net`, path], timeoutMs),
  );
  await output("nsenter", [`--net=${path}`, "sh", "-c", PREPARE], timeoutMs, commands);
}

/** `rules`: input of iptables-restore(8). @throws NetworkError program-missing, program-failed */
export async function addRules(path: string, rules: string, timeoutMs: number): Promise<void> {
  await output("nsenter", [`--net=${path}`, "iptables-restore", "--noflush"], timeoutMs, rules);
}

/** `routing`: input of `ip -batch`. @throws NetworkError program-missing, program-failed */
export async function addRouting(path: string, routing: string, timeoutMs: number): Promise<void> {
  await output("nsenter", [`--net=${path}`, "ip", "-batch", "-"], timeoutMs, routing);
}

/** Removes the namespace and everything in it. Succeeds if it does not exist. @throws NetworkError */
export async function unpinNamespace(path: string, timeoutMs: number): Promise<void> {
  // An attempt that was killed while it made the namespace may have left more than one mount.
  for (let left = isPinned(path); left; left = isPinned(path)) await output("umount", ["--lazy", path], timeoutMs);
  rmSync(path, { force: true });
}

/** Reads /proc/self/mountinfo, where the fifth field is the mount point and blanks are octal escapes. Source: proc(5). */
export function isPinned(path: string): boolean {
  return existsSync(path) && pinnedBelow(dirname(path)).includes(path);
}

/** The files below a directory to which namespaces are bound. */
export function pinnedBelow(directory: string): string[] {
  const points = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return [...new Set(points.map((line) => unescaped(line.split(" ")[4] ?? "")))].filter((point) => point.startsWith(`${directory}/`));
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
