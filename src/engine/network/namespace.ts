/** Network namespaces that are bound to a file, so that they exist independently of any process. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isMountPoint, mountsBelow, removeOwnFile } from "../../node/index.ts";
import { isInstalled, lastLines, output, searchPath } from "./command.ts";
import { NetworkError } from "./errors.ts";
import type { Together } from "./together.ts";

const IPV6 = "/proc/sys/net/ipv6";
/**
 * Some hosts disable IPv6 in new namespaces, which would remove ::1 from the loopback interface. Any user may listen on any port, and ping: the ports are those of the task alone. Source:
 * moby, daemon/oci_linux.go, "ip_unprivileged_port_start"; containerd, "enable_unprivileged_ports".
 */
const PREPARE = `f=${IPV6}/conf/all/disable_ipv6; if [ -e $f ]; then echo 0 > $f || exit; fi
cd /proc/sys/net/ipv4; echo 0 > ip_unprivileged_port_start && echo 0 2147483647 > ping_group_range || exit
if [ "$1" ]; then rules=$1; shift; printf %s "$rules" | "$@" || exit; echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet || exit; fi
exec ip -batch -`;
/** The last line of it for a host without the program ip: sysfs shows the interfaces of the namespace in which it is mounted, and 1 is IFF_UP. */
const WITHOUT_IP = "exec unshare --mount sh -c 'mount -t sysfs sysfs /sys && echo 1 > /sys/class/net/lo/flags'";

/** What a program gets by its standard input. */
export interface ProgramInput {
  readonly program: readonly string[];
  readonly input: string;
}

export interface NewNamespace {
  /** File to bind it to. */
  readonly path: string;
  /** Addresses that cannot be reached from it. */
  readonly blocked: readonly string[];
  /** Rules for the way to the resolver; undefined: there is none. */
  readonly resolver: ProgramInput | undefined;
  /** File of the user namespace that owns it; undefined: that of the host. */
  readonly users: string | undefined;
}

/** Makes a namespace, or prepares the one that is bound to the file. Returns whether it was made. @throws NetworkError, the errors of open(2) */
export async function makeNamespace(made: NewNamespace, timeoutMs: number): Promise<boolean> {
  const isThere = isPinned(made.path);
  await (isThere ? prepareNamespace(made, timeoutMs) : pinNamespace(made, timeoutMs));
  return !isThere;
}

/** Makes a namespace, whose loopback is up, and binds it to a file. @throws NetworkError, the errors of open(2) */
async function pinNamespace({ path, blocked, resolver, users }: NewNamespace, timeoutMs: number): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "wx", 0o600));
  if (users === undefined) {
    await output("unshare", [`--net=${path}`, ...preparing(resolver, blocked)], timeoutMs, preparation(blocked));
    return;
  }
  // A process of the user namespace may make one that this owns, and may not mount.
  await whileHeld(["nsenter", `--user=${users}`, "unshare", "--net"], timeoutMs, (pid) =>
    output("mount", ["--bind", `/proc/${pid}/ns/net`, path], timeoutMs),
  );
  await prepareNamespace({ path, blocked, resolver }, timeoutMs);
}

/** Of one that is there: its loopback, what is blocked, and the way to the resolver. May be repeated. @throws NetworkError */
async function prepareNamespace({ path, blocked, resolver }: Omit<NewNamespace, "users">, timeoutMs: number): Promise<void> {
  await output("nsenter", [`--net=${path}`, ...preparing(resolver, blocked)], timeoutMs, preparation(blocked));
}

function preparing(resolver: ProgramInput | undefined, blocked: readonly string[]): string[] {
  // A task that gets no interface has nothing that is to be blocked.
  const isOnlyLoopback = resolver === undefined && blocked.length === 0;
  const script = isOnlyLoopback && !isInstalled("ip") ? PREPARE.replace(/exec ip .*$/, WITHOUT_IP) : PREPARE;
  return ["sh", "-c", script, "sh", ...(resolver === undefined ? [] : [resolver.input, ...resolver.program])];
}

/** For `ip -batch`. */
function preparation(blocked: readonly string[]): string {
  const reachable = blocked.filter((address) => !address.includes(":") || existsSync(IPV6));
  return ["link set lo up", ...reachable.map((address) => `route replace blackhole ${address}`), ""].join("\n");
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

// Runs a program that makes a namespace, and something with the namespace while a process is in it.

/** Says that it is there, and ends with its standard input. */
const HOLD = ["sh", "-c", "echo; exec cat"];

/**
 * @param words a program that replaces itself by the one that its last arguments name
 * @param act gets the process id. @throws NetworkError program-failed; the errors of spawn(2), as EMFILE; what `act` throws
 */
export async function whileHeld(
  [program = "", ...args]: readonly string[],
  timeoutMs: number,
  act: (pid: number) => unknown,
): Promise<void> {
  const env = { ...process.env, PATH: searchPath() };
  const failed = (why: string) => new NetworkError("program-failed", `${[program, ...args].join(" ")} has failed: ${why}`);
  // No runProgram (src/node): it lives until `act` has ended.
  const holder = spawn(program, [...args, ...HOLD], { stdio: "pipe", cwd: "/", env, timeout: timeoutMs, killSignal: "SIGKILL" });
  // An error of the start is told later. Without a listener it would end this process.
  const ended = once(holder, "close");
  const { stdin, stdout, stderr } = holder as { [Name in "stdin" | "stdout" | "stderr"]: ChildProcess[Name] | undefined };
  // Where this process may open no more files, Node makes no pipes, whatever its types say.
  if (!stdin || !stdout || !stderr) {
    await ended;
    throw failed("it was not started");
  }
  let errors = "";
  stderr.on("data", (chunk) => {
    errors += chunk;
  });
  // It may have ended.
  stdin.on("error", () => {});
  try {
    const isThere = await Promise.race([once(stdout, "data").then(() => true), ended.then(() => false)]);
    if (!isThere) throw failed(lastLines(errors) || "it has said nothing");
    await act(holder.pid!);
  } finally {
    stdin.end();
    await ended.catch(() => {});
  }
}
