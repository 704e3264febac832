/** The texts of /proc in which a host describes itself, as data. Pure. */
import { CAPABILITIES } from "../../../shared/linux/index.ts";

/** /proc/PID/uid_map (user_namespaces(7)). */
export function parseIdMap(text: string): { readonly inside: number; readonly outside: number; readonly size: number }[] {
  return lines(text).map((line) => {
    const [inside = 0, outside = 0, size = 0] = line.split(/\s+/).map(Number);
    return { inside, outside, size };
  });
}

/** Name -> value of "Name:\tvalue" lines (proc_pid_status(5)). */
export function parseFields(text: string): ReadonlyMap<string, string> {
  return new Map(
    lines(text).map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
}

/** Names of the capabilities in a mask of /proc/PID/status; those without a name are left out. */
export function capabilityNames(mask: bigint): string[] {
  return CAPABILITIES.filter((_, bit) => (mask >> BigInt(bit)) & 1n);
}

export function parseMask(text = "0"): bigint {
  return BigInt(`0x${text}`);
}

const LIMITS: Readonly<Record<string, string>> = {
  "Max cpu time": "RLIMIT_CPU",
  "Max file size": "RLIMIT_FSIZE",
  "Max data size": "RLIMIT_DATA",
  "Max stack size": "RLIMIT_STACK",
  "Max core file size": "RLIMIT_CORE",
  "Max resident set": "RLIMIT_RSS",
  "Max processes": "RLIMIT_NPROC",
  "Max open files": "RLIMIT_NOFILE",
  "Max locked memory": "RLIMIT_MEMLOCK",
  "Max address space": "RLIMIT_AS",
  "Max file locks": "RLIMIT_LOCKS",
  "Max pending signals": "RLIMIT_SIGPENDING",
  "Max msgqueue size": "RLIMIT_MSGQUEUE",
  "Max nice priority": "RLIMIT_NICE",
  "Max realtime priority": "RLIMIT_RTPRIO",
  "Max realtime timeout": "RLIMIT_RTTIME",
};

/** /proc/PID/limits: name -> soft and hard, "unlimited" or decimal. */
export function parseLimits(text: string): Record<string, [string, string]> {
  const found: Record<string, [string, string]> = {};
  for (const line of lines(text)) {
    const [, label = "", soft = "", hard = ""] = /^(Max [a-z ]+?)\s{2,}(\S+)\s+(\S+)/.exec(line) ?? [];
    const name = LIMITS[label];
    if (name !== undefined) found[name] = [soft, hard];
  }
  return found;
}

/** Size in MiB of a "Name:  N kB" field of /proc/meminfo. */
export function mebibytes(field = "0 kB"): number {
  return Math.floor(Number.parseInt(field, 10) / 1024);
}

/** "hugepages-2048kB" of /sys/kernel/mm/hugepages as linux.resources names it: "2MB". */
export function hugepageSize(directory: string): string {
  const kilobytes = Number(/-(\d+)kB$/.exec(directory)?.[1] ?? 0);
  if (kilobytes >= 1 << 20) return `${kilobytes >> 20}GB`;
  return kilobytes >= 1 << 10 ? `${kilobytes >> 10}MB` : `${kilobytes}KB`;
}

const ACTIONS: Readonly<Record<string, string>> = {
  kill_process: "SCMP_ACT_KILL_PROCESS",
  kill_thread: "SCMP_ACT_KILL_THREAD",
  trap: "SCMP_ACT_TRAP",
  errno: "SCMP_ACT_ERRNO",
  user_notif: "SCMP_ACT_NOTIFY",
  trace: "SCMP_ACT_TRACE",
  log: "SCMP_ACT_LOG",
  allow: "SCMP_ACT_ALLOW",
};

/** Words of kernel.seccomp.actions_avail as profiles name them. */
export function seccompActions(words: readonly string[]): string[] {
  return words.flatMap((word) => ACTIONS[word] ?? []);
}

/** /proc/filesystems: "nodev\tproc". */
export function parseFilesystems(text: string): string[] {
  return lines(text).map((line) => line.split(/\s+/).at(-1) ?? "");
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
