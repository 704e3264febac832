import { sysctlPath } from "../../config/index.ts";
import { pointerToken } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import { namespaceOf } from "./namespaces.ts";

/** What the file of a key takes (Documentation/admin-guide/sysctl): how many numbers, and between which bounds in every kernel from 5.10 on. */
interface Numbers {
  readonly count: number;
  readonly least: bigint;
  readonly most: bigint;
}

const INT_MAX = 0x7fff_ffffn;
const INT_MIN = -0x8000_0000n;
const LONG_MAX = 0xffff_ffff_ffff_ffffn;

const numbers = (count: number, least: bigint, most = INT_MAX): Numbers => ({ count, least, most });
const ANY = numbers(1, INT_MIN);
/** The kernel keeps them as ticks of its clock, of which there are 100 a second at least. */
const SECONDS = numbers(1, INT_MIN / 100n, INT_MAX / 100n);

const KEYS: Readonly<Record<string, Numbers>> = {
  "kernel/msgmax": numbers(1, 0n),
  "kernel/msgmnb": numbers(1, 0n),
  // 32768 unless the kernel was booted with ipcmni_extend.
  "kernel/msgmni": numbers(1, 0n, 16_777_216n),
  "kernel/shmmni": numbers(1, 0n, 16_777_216n),
  "kernel/shmall": numbers(1, 0n, LONG_MAX),
  "kernel/shmmax": numbers(1, 0n, LONG_MAX),
  "kernel/shm_rmid_forced": numbers(1, 0n, 1n),
  "kernel/sem": numbers(4, INT_MIN),
  "fs/mqueue/msg_default": numbers(1, 1n, 65_536n),
  "fs/mqueue/msg_max": numbers(1, 1n, 65_536n),
  "fs/mqueue/msgsize_default": numbers(1, 128n, 16_777_216n),
  "fs/mqueue/msgsize_max": numbers(1, 128n, 16_777_216n),
  "fs/mqueue/queues_max": ANY,
  "net/core/somaxconn": numbers(1, 0n),
  "net/ipv4/ip_forward": ANY,
  "net/ipv4/ip_unprivileged_port_start": numbers(1, 0n, 65_535n),
  "net/ipv4/ip_local_port_range": numbers(2, 1n, 65_535n),
  "net/ipv4/ping_group_range": numbers(2, 0n, 4_294_967_294n),
  "net/ipv4/ip_default_ttl": numbers(1, 1n, 255n),
  "net/ipv4/tcp_syncookies": ANY,
  "net/ipv4/tcp_tw_reuse": numbers(1, 0n, 2n),
  "net/ipv4/tcp_keepalive_time": SECONDS,
  "net/ipv4/tcp_keepalive_intvl": SECONDS,
  "net/ipv4/tcp_keepalive_probes": ANY,
  "net/ipv4/tcp_fin_timeout": SECONDS,
  "net/ipv4/tcp_max_syn_backlog": ANY,
  "net/ipv4/tcp_rmem": numbers(3, 1n),
  "net/ipv4/tcp_wmem": numbers(3, 1n),
  "net/ipv4/udp_rmem_min": numbers(1, 1n),
  "net/ipv4/udp_wmem_min": numbers(1, 1n),
  "net/unix/max_dgram_qlen": ANY,
};

/** The kernel refuses a text where it expects numbers, and numbers out of its bounds. What stands behind the last of them it does not look at. */
export const sysctlValues: Check = ({ linux }, report) => {
  for (const [key, value] of Object.entries(linux?.sysctl ?? {})) {
    const path = sysctlPath(key);
    const pointer = `/linux/sysctl/${pointerToken(key)}`;
    if (value === "") {
      report.warning("sysctl-empty", pointer, `sysctl "${key}" has an empty value: nothing is written`);
      continue;
    }
    const takes = Object.hasOwn(KEYS, path) ? KEYS[path] : undefined;
    if (takes === undefined || isTaken(value, takes)) continue;
    report.error("sysctl-value", pointer, `sysctl "${key}" takes ${expected(takes)}, not "${value}"`);
  }
};

/**
 * The ports for anybody begin at or below the range of local ports (ip(7)). A new network namespace has these values.
 */
const NEW_PORTS = { low: 32_768n, high: 60_999n, start: 1024n };

/** ip(7): keys that the kernel compares with each other, in the order in which they are written. */
export const sysctlPorts: Check = (spec, report) => {
  const network = namespaceOf(spec, "network");
  if (network === undefined || network.path) return;
  const ports = { ...NEW_PORTS };
  for (const [key, value] of Object.entries(spec.linux?.sysctl ?? {})) {
    const path = sysctlPath(key);
    const takes = PORT_KEYS.includes(path) ? KEYS[path] : undefined;
    if (takes === undefined || !isTaken(value, takes)) continue;
    const [first = 0n, second] = wordsOf(value).slice(0, takes.count).map(numberOf);
    const next = takes.count === 1 ? { ...ports, start: first } : { ...ports, low: first, high: second ?? ports.high };
    if (next.low <= next.high && next.start <= next.low) Object.assign(ports, next);
    else
      report.error(
        "sysctl-ports",
        `/linux/sysctl/${pointerToken(key)}`,
        `sysctl "${key}": with it local ports would be ${next.low} to ${next.high}, and ports for anybody begin at ${next.start}`,
      );
  }
};

const PORT_KEYS: readonly string[] = ["net/ipv4/ip_local_port_range", "net/ipv4/ip_unprivileged_port_start"];

/** proc_get_long() of the kernel: so many characters are a number at most. */
const LONGEST = 21;

/** proc_dointvec() of the kernel: white space, then numbers with white space between them, as many as the file has or fewer. */
export function isTaken(value: string, { count, least, most }: Numbers): boolean {
  const words = wordsOf(value);
  if (words.length === 0) return false;
  return words.slice(0, count).every((word) => {
    if (word.length > LONGEST || !/^-?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)$/.test(word)) return false;
    const number = numberOf(word);
    return number >= least && number <= most;
  });
}

/** Of a value that is taken. */
export const numbersOf = (value: string, count: number): readonly bigint[] => wordsOf(value).slice(0, count).map(numberOf);

const wordsOf = (value: string): readonly string[] => value.split(/[ \t\n]+/).filter((word) => word !== "");

/** As C reads it: a leading zero makes it octal. */
function numberOf(word: string): bigint {
  const digits = word.replace("-", "");
  const value = BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits);
  return word.startsWith("-") ? -value : value;
}

/** For a key whose numbers are not known: only their form counts. */
export function anyNumbers(count: number): Numbers {
  return numbers(count, -LONG_MAX, LONG_MAX);
}

function expected({ count, least, most }: Numbers): string {
  const what = count === 1 ? "a number" : `${count} numbers`;
  if (most < INT_MAX) return `${what} between ${least} and ${most}`;
  return least === INT_MIN ? what : `${what}, ${least} or more`;
}
