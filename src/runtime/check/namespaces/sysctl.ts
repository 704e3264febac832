import { sysctlPath } from "../../config/index.ts";
import { pointerToken } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** How many numbers the file of a key takes (Documentation/admin-guide/sysctl). */
const NUMBERS: Readonly<Record<string, number>> = {
  "kernel/msgmax": 1,
  "kernel/msgmnb": 1,
  "kernel/msgmni": 1,
  "kernel/shmall": 1,
  "kernel/shmmax": 1,
  "kernel/shmmni": 1,
  "kernel/shm_rmid_forced": 1,
  "kernel/sem": 4,
  "fs/mqueue/msg_default": 1,
  "fs/mqueue/msg_max": 1,
  "fs/mqueue/msgsize_default": 1,
  "fs/mqueue/msgsize_max": 1,
  "fs/mqueue/queues_max": 1,
  "net/core/somaxconn": 1,
  "net/ipv4/ip_forward": 1,
  "net/ipv4/ip_unprivileged_port_start": 1,
  "net/ipv4/ip_local_port_range": 2,
  "net/ipv4/ping_group_range": 2,
  "net/ipv4/tcp_syncookies": 1,
  "net/ipv4/tcp_tw_reuse": 1,
  "net/ipv4/tcp_keepalive_time": 1,
  "net/ipv4/tcp_keepalive_intvl": 1,
  "net/ipv4/tcp_keepalive_probes": 1,
  "net/ipv4/tcp_fin_timeout": 1,
  "net/ipv4/tcp_max_syn_backlog": 1,
};

/** The least that the kernel takes; others take negative numbers, or began to refuse them with some version. */
const LEAST: Readonly<Record<string, number>> = {
  "kernel/msgmax": 0,
  "kernel/msgmnb": 0,
  "kernel/msgmni": 0,
  "kernel/shmmni": 0,
  "kernel/shm_rmid_forced": 0,
  "fs/mqueue/msg_default": 1,
  "fs/mqueue/msg_max": 1,
  "fs/mqueue/msgsize_default": 128,
  "fs/mqueue/msgsize_max": 128,
  "net/core/somaxconn": 0,
  "net/ipv4/ip_unprivileged_port_start": 0,
};

/** The kernel refuses a text where it expects numbers, and numbers below what makes sense. */
export const sysctlValues: Check = ({ linux }, report) => {
  for (const [key, value] of Object.entries(linux?.sysctl ?? {})) {
    const path = sysctlPath(key);
    const [count, least] = [NUMBERS[path], LEAST[path] ?? Number.NEGATIVE_INFINITY];
    if (count === undefined) continue;
    const words = value.trim().split(/\s+/);
    if (words.length <= count && words.every((word) => /^-?(?:0[xX][0-9a-fA-F]+|\d+)$/.test(word) && !isBelow(word, least))) continue;
    const expected = count > 1 ? `${count} numbers` : Number.isFinite(least) ? `a number, ${least} or more` : "a number";
    report.error("sysctl-value", `/linux/sysctl/${pointerToken(key)}`, `sysctl "${key}" takes ${expected}, not "${value}"`);
  }
};

function isBelow(word: string, least: number): boolean {
  return word.startsWith("-") ? -Number(word.slice(1)) < least : Number(word) < least;
}
