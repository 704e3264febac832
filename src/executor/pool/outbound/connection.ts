/**
 * The way out of one box: pasta(1) carries what the box sends to sockets of the host, and a packet filter in the box's namespace decides what that may be. Both are there before the
 * program begins.
 *
 * pasta is in the pid namespace of the box, so the kernel kills it with the box's first process, whoever else has died before. It is root of the box's user namespace: on the host an
 * id that owns nothing. It has the network namespace of this process, an empty root, and a filter of system calls of its own.
 */
import { closeSync, openSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProgramEnd, packageOf, runProgram } from "../../../node/index.ts";
import { aborted, ExecutorError } from "../../errors.ts";
import { directoryOfProcess, hierarchies } from "../../process/cgroups.ts";
import { isAlive, type ProcessIdentity, processStat, readProc } from "../../process/procfs.ts";
import type { PoolTemplate } from "../options.ts";
import { hasResolver, ownAddresses, type Ports, searchPath, takePorts } from "./host.ts";
import type { Outbound } from "./network.ts";
import { BOX_ADDRESS, DEVICE, GATEWAY, PREFIX, RESOLVER, rulesOf } from "./rules.ts";
import { mark } from "./traces.ts";

/** pasta and nft begin in some hundredths of a second. */
const BOUND_MS = 10_000;
const PAUSE_MS = 1;
/** How often it is looked whether pasta lives. */
const LOOK_MS = 250;
/** Sockets of pasta: a box cannot take more of the host's. */
const MOST_FILES = 1024;
/** pasta is a process to be killed for memory as the program of the box is, whatever this process is. */
const AS_BOX = `ulimit -n ${MOST_FILES} && echo 500 > /proc/self/oom_score_adj && exec "$@"`;

export interface Connection {
  /** Whether pasta has ended before the box: then the box has no network any more. */
  readonly isLost: boolean;
  /** When nothing of the box is left. */
  close(): void;
}

/**
 * @param directory of the box's executor. @param init its first process, which waits for the program. @param template with `outbound`
 * @throws ExecutorError wrong-state: it has ended; launch-failed, busy, aborted: it has to be ended now
 */
export async function connect(
  directory: string,
  init: ProcessIdentity,
  { launch, outbound }: PoolTemplate,
  signal?: AbortSignal,
): Promise<Connection> {
  mark(directory);
  const ports = await takePorts();
  try {
    await begin(init, outbound!, ports, signal);
    const pasta = await found(init);
    if (launch.cgroupParent !== null) joinCgroups(pasta, init);
    return watched(init, pasta, ports);
  } catch (error) {
    ports.close();
    if (signal?.aborted) throw aborted("the start of a box", signal);
    if (!isAlive(init)) throw new ExecutorError("wrong-state", "the box has ended before it had its network", {}, error);
    throw error;
  }
}

async function begin(
  init: ProcessIdentity,
  { private: named }: Outbound,
  { range }: Ports,
  signal: AbortSignal | undefined,
): Promise<void> {
  const asks = hasResolver();
  const rules = rulesOf({ own: ownAddresses(), private: named, ports: range, hasResolver: asks });
  const [net, user, pid] = openNamespaces(init);
  const path = (fd: number) => `/proc/${process.pid}/fd/${fd}`;
  const options = { timeoutMs: BOUND_MS, env: { PATH: searchPath(), LC_ALL: "C" }, signal };
  try {
    const inside = ["nsenter", `--user=${path(user)}`, `--pid=${path(pid)}`, "pasta", ...pastaWords(asks)];
    const [filter, pasta] = await Promise.all([
      runProgram("nsenter", [`--net=${path(net)}`, "nft", "-f", "-"], { ...options, input: rules }),
      runProgram("/bin/sh", ["-c", AS_BOX, "sh", ...inside], { ...options, stdio: [net, "pipe", "pipe"] }),
    ]);
    refuseFailed("nft", filter);
    refuseFailed("pasta", pasta);
  } finally {
    for (const fd of [net, user, pid]) closeSync(fd);
  }
}

/** Of a process that lives after they were opened: so they are not another one's. */
function openNamespaces(init: ProcessIdentity): [number, number, number] {
  const fds: number[] = [];
  try {
    for (const name of ["net", "user", "pid"]) fds.push(openSync(`/proc/${init.pid}/ns/${name}`, "r"));
    if (isAlive(init)) return fds as [number, number, number];
    throw new ExecutorError("wrong-state", "the box has ended");
  } catch (error) {
    for (const fd of fds) closeSync(fd);
    throw error;
  }
}

/** Its standard input is the network namespace. Nothing is forwarded to the box, and no address of the box's stands for the host. */
function pastaWords(asks: boolean): string[] {
  return [
    ...["--netns", "/proc/self/fd/0", "--no-netns-quit", "--config-net", "--quiet", "--ipv4-only"],
    ...["--ns-ifname", DEVICE, "--address", BOX_ADDRESS, "--netmask", String(PREFIX), "--gateway", GATEWAY, "--no-map-gw"],
    ...["--tcp-ports", "none", "--udp-ports", "none", "--tcp-ns", "none", "--udp-ns", "none"],
    ...["--no-icmp", "--no-dhcp", "--no-dhcpv6", "--no-ndp", "--no-ra"],
    ...(asks ? ["--dns-forward", RESOLVER] : []),
  ];
}

/** @throws ExecutorError launch-failed */
function refuseFailed(program: string, { failure, stderr }: ProgramEnd): void {
  if (failure === undefined) return;
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !/^Failed to send \d+ bytes to syslog$/.test(line));
  const said = lines.at(-1)?.trim().slice(0, 400);
  const why = said === undefined ? `${program} ${failure}` : `${program}: ${said}`;
  throw new ExecutorError("launch-failed", `network: ${why} (package ${packageOf(program)})`, { program });
}

/** pasta is the only child of a process that waits. It has given up its rights when it has its filter of system calls. @throws ExecutorError launch-failed */
async function found(init: ProcessIdentity): Promise<ProcessIdentity> {
  const deadline = performance.now() + BOUND_MS;
  for (;;) {
    const [pid, ...others] = (readProc(init.pid, `task/${init.pid}/children`) ?? "").split(" ").filter((word) => word !== "");
    const stat = pid === undefined || others.length > 0 ? undefined : processStat(Number(pid));
    const status = stat === undefined ? "" : (readProc(stat.pid, "status") ?? "");
    const isConfined = /^Seccomp:\t2$/m.test(status) && !/^Uid:\t0\t/m.test(status);
    const hasDevice = (readProc(init.pid, "net/dev") ?? "").includes(` ${DEVICE}:`);
    if (isConfined && hasDevice && stat !== undefined && stat.state !== "Z") return { pid: stat.pid, startTicks: stat.startTicks };
    if (performance.now() > deadline || !isAlive(init))
      throw new ExecutorError("launch-failed", "network: pasta has ended without a word, or is not confined (package passt)", {
        program: "pasta",
      });
    await sleep(PAUSE_MS);
  }
}

/** From now on it takes of what the box may use: memory, processor and processes. @throws ExecutorError launch-failed */
function joinCgroups(pasta: ProcessIdentity, init: ProcessIdentity): void {
  const known = hierarchies();
  const names = known.flatMap(({ version, controllers }) => (version === 2 ? [""] : controllers.slice(0, 1)));
  for (const name of names) {
    const directory = directoryOfProcess(init.pid, name, known);
    if (directory === undefined || directory === directoryOfProcess(pasta.pid, name, known)) continue;
    try {
      writeFileSync(`${directory}/cgroup.procs`, String(pasta.pid), { flag: "r+" });
    } catch (error) {
      throw new ExecutorError("launch-failed", `network: pasta cannot be put into ${directory}`, { directory }, error);
    }
  }
  if (!isAlive(pasta)) throw new ExecutorError("launch-failed", "network: pasta has ended", { program: "pasta" });
}

function watched(init: ProcessIdentity, pasta: ProcessIdentity, ports: Ports): Connection {
  let misses = 0;
  const timer = setInterval(() => {
    // With the box, pasta ends first.
    misses = isAlive(pasta) || isEnding(init) ? 0 : misses + 1;
    if (misses > 1) clearInterval(timer);
  }, LOOK_MS).unref();
  return {
    get isLost() {
      return misses > 1;
    },
    close() {
      clearInterval(timer);
      ports.close();
    },
  };
}

/** PF_EXITING of the kernel's sched.h, in the ninth field of proc_pid_stat(5). */
const EXITING = 0x4;

function isEnding(init: ProcessIdentity): boolean {
  if (!isAlive(init)) return true;
  const text = readProc(init.pid, "stat") ?? "";
  return (Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[6] ?? EXITING) & EXITING) !== 0;
}
