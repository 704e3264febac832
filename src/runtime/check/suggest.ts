/** "did you mean ...?" for names that a check or the derivation did not know, put behind what it has said. */
import {
  CAPABILITIES,
  IO_PRIORITY_CLASSES,
  MEMORY_POLICY_FLAGS,
  MEMORY_POLICY_MODES,
  PERSONALITY_DOMAINS,
  SCHEDULER_FLAGS,
  SCHEDULER_POLICIES,
} from "../../shared/linux/index.ts";
import { MOUNT_OPTIONS } from "../config/index.ts";
import {
  closeNames,
  type JsonValue,
  NAMESPACE_TYPES,
  RLIMIT_TYPES,
  SECCOMP_ACTIONS,
  SECCOMP_ARCHITECTURES,
  SECCOMP_FLAGS,
  SECCOMP_OPERATORS,
} from "../spec/index.ts";
import type { Finding } from "./finding.ts";

const SYSCTLS = [
  ...["kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni"],
  ...["kernel.shm_rmid_forced", "kernel.domainname", "fs.mqueue.msg_max", "fs.mqueue.msgsize_max", "fs.mqueue.queues_max"],
  ...["net.ipv4.ip_forward", "net.ipv4.ip_unprivileged_port_start", "net.core.somaxconn", "net.ipv4.ping_group_range"],
];

/** What could have been meant, by code. */
const NAMES: Readonly<Record<string, () => readonly string[]>> = {
  "capability-unknown": () => CAPABILITIES,
  "namespace-unknown": () => NAMESPACE_TYPES,
  "rlimit-unknown": () => RLIMIT_TYPES,
  "scheduler-policy": () => Object.keys(SCHEDULER_POLICIES),
  "scheduler-flag": () => Object.keys(SCHEDULER_FLAGS),
  "io-priority-class": () => Object.keys(IO_PRIORITY_CLASSES),
  "memory-policy-mode": () => Object.keys(MEMORY_POLICY_MODES),
  "memory-policy-flag": () => Object.keys(MEMORY_POLICY_FLAGS),
  "personality-domain": () => Object.keys(PERSONALITY_DOMAINS),
  "seccomp-action": () => Object.keys(SECCOMP_ACTIONS),
  "seccomp-architecture": () => Object.keys(SECCOMP_ARCHITECTURES),
  "seccomp-flag": () => Object.keys(SECCOMP_FLAGS),
  "seccomp-operator": () => Object.keys(SECCOMP_OPERATORS),
  "sysctl-host": () => SYSCTLS,
  "time-clock-unknown": () => ["monotonic", "boottime"],
  "root-propagation-unknown": () => [...MOUNT_OPTIONS].filter(([, { propagation }]) => propagation !== undefined).map(([name]) => name),
};

/** What people leave off. */
const PREFIXES: Readonly<Record<string, string>> = {
  "capability-unknown": "CAP_",
  "rlimit-unknown": "RLIMIT_",
  "scheduler-policy": "SCHED_",
  "seccomp-action": "SCMP_ACT_",
  "seccomp-architecture": "SCMP_ARCH_",
  "seccomp-operator": "SCMP_CMP_",
  "io-priority-class": "IOPRIO_CLASS_",
  "memory-policy-mode": "MPOL_",
};

/** Other names that were common for the same. */
const ALIASES: Readonly<Record<string, string>> = { net: "network", mnt: "mount", pids: "pid", SCMP_ARCH_AMD64: "SCMP_ARCH_X86_64" };

/** @param value what stands at the finding's place; the key of an object where the name is one */
export function suggest(finding: Finding, value: JsonValue | undefined): Finding {
  const names = NAMES[finding.code]?.();
  const key = finding.pointer
    .slice(finding.pointer.lastIndexOf("/") + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  const word = finding.code === "sysctl-host" || finding.code === "time-clock-unknown" ? key : value;
  if (names === undefined || typeof word !== "string" || word === "") return finding;
  const close = closeWords(word, PREFIXES[finding.code] ?? "", names);
  return close.length === 0 ? finding : { ...finding, message: `${finding.message}; did you mean ${close.join(" or ")}?` };
}

function closeWords(word: string, prefix: string, names: readonly string[]): readonly string[] {
  const alias = ALIASES[word];
  if (alias !== undefined && names.includes(alias)) return [alias];
  const full = word.toUpperCase().startsWith(prefix) ? word : prefix + word.toUpperCase();
  const exact = names.find((name) => name.toLowerCase() === full.toLowerCase());
  return exact === undefined ? closeNames(full, names) : [exact];
}

/** Of a long text the engine finds it out quicker than a loop does. */
const OTHER_THAN_ASCII = /[^\0-\x7f]/;
const LONG = 256;

/** Bytes of a text in UTF-8; a lone surrogate counts as its replacement character. */
export function utf8Length(text: string): number {
  let length = text.length;
  if (length > LONG && !OTHER_THAN_ASCII.test(text)) return length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    length += 1;
    // A pair of surrogates is two units and four bytes.
    if (unit >= 0x800 && (unit & 0xf800) !== 0xd800) length += 1;
  }
  return length;
}
