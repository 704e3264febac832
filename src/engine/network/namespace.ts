/** Network namespaces that live as long as a file: bound to it, whatever happens to the processes in them. */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { output } from "./command.ts";

/** Some hosts switch IPv6 off in each new namespace, which would take ::1 from loopback. */
const PREPARE = `set -e
f=/proc/sys/net/ipv6/conf/all/disable_ipv6
[ ! -e $f ] || echo 0 > $f
for a; do
  case $a in *:*) [ ! -e $f ] || ip -6 route add blackhole $a/128 ;; *) ip route add blackhole $a/32 ;; esac
done`;

/** Make one. `blocked`: addresses that nothing in it reaches. @throws NetworkError, the errors of open(2) */
export async function pinNamespace(path: string, blocked: readonly string[], timeoutMs: number): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "wx", 0o600));
  await output("unshare", [`--net=${path}`, "sh", "-c", PREPARE, "sh", ...blocked], timeoutMs);
}

/** `rules`: as iptables-restore(8) takes them. @throws NetworkError program-missing, program-failed */
export async function addRules(path: string, rules: string, timeoutMs: number): Promise<void> {
  await output("nsenter", [`--net=${path}`, "iptables-restore", "--noflush"], timeoutMs, rules);
}

/** `routing`: as `ip -batch` takes it. @throws NetworkError program-missing, program-failed */
export async function addRouting(path: string, routing: string, timeoutMs: number): Promise<void> {
  await output("nsenter", [`--net=${path}`, "ip", "-batch", "-"], timeoutMs, routing);
}

/** What is in it goes with it. One that is gone is removed. @throws NetworkError */
export async function unpinNamespace(path: string, timeoutMs: number): Promise<void> {
  // Whoever was killed while it was made may have left more than one mount.
  for (let left = isPinned(path); left; left = isPinned(path)) await output("umount", ["--lazy", path], timeoutMs);
  rmSync(path, { force: true });
}

/** proc(5): the fifth field of each line is the mount point, with blanks as octal numbers. */
export function isPinned(path: string): boolean {
  return existsSync(path) && pinnedBelow(dirname(path)).includes(path);
}

/** Files of a directory that namespaces are bound to. */
export function pinnedBelow(directory: string): string[] {
  const points = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return [...new Set(points.map((line) => unescaped(line.split(" ")[4] ?? "")))].filter((point) => point.startsWith(`${directory}/`));
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
