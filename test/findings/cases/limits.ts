/** Filters of system calls, resources, policies of the process. */
import { broken, type Case } from "../case.ts";

const R = "/linux/resources";
const S = "/linux/seccomp";
const CALL = { names: ["mkdir"], action: "SCMP_ACT_ERRNO" };
const filter = (code: string, at: string, wrong: object) =>
  broken(
    code,
    { [S]: { defaultAction: "SCMP_ACT_ALLOW", syscalls: [CALL], ...wrong } },
    { fixed: { [S]: { defaultAction: "SCMP_ACT_ALLOW", syscalls: [CALL] } }, at: `${S}${at}` },
  );
const argument = (code: string, at: string, wrong: object) =>
  filter(code, `/syscalls/0/args/0${at}`, { syscalls: [{ ...CALL, args: [{ index: 0, value: 0, op: "SCMP_CMP_EQ", ...wrong }] }] });
const rlimit = (code: string, at: string, ...rlimits: readonly object[]) =>
  broken(code, { "/process/rlimits": rlimits }, { at: `/process/rlimits/${at}` });

export const LIMITS: readonly Case[] = [
  filter("seccomp-default", "/defaultAction", { defaultAction: "" }),
  filter("seccomp-action", "/syscalls/0/action", { syscalls: [{ names: ["mkdir"], action: "SCMP_ACT_DENY" }] }),
  filter("seccomp-errno", "/syscalls/0/errnoRet", { syscalls: [{ ...CALL, errnoRet: 65536 }] }),
  filter("seccomp-architecture", "/architectures/1", { architectures: ["SCMP_ARCH_X86_64", "x86"] }),
  filter("seccomp-flag", "/flags/0", { flags: ["SECCOMP_FILTER_FLAG_LOGGING"] }),
  argument("seccomp-argument", "/index", { index: 64 }),
  argument("seccomp-operator", "/op", { op: "==" }),
  argument("seccomp-operator", "/op", { op: "SCMP_CMP_MASKED" }),

  broken("memory-negative", { [`${R}/memory/limit`]: -9 }),
  broken("memory-swappiness", { [`${R}/memory/swappiness`]: 101 }),
  broken("memory-swappiness", { [`${R}/memory/swappiness`]: 4294967295 }),
  broken("cpu-quota", { [`${R}/cpu/quota`]: 1 }),
  broken("list-syntax", { [`${R}/cpu/cpus`]: "-0" }),
  broken("list-syntax", { [`${R}/cpu/cpus`]: "every" }),
  broken("cpus-offline", { [`${R}/cpu/cpus`]: "0,4095" }),
  broken("nodes-offline", { [`${R}/cpu/mems`]: "63" }),
  broken("weight-range", { [`${R}/blockIO/weight`]: 9 }),
  broken("weight-range", { [`${R}/blockIO/leafWeight`]: 1001 }),
  broken("page-size", { [`${R}/hugepageLimits`]: [{ pageSize: "2mb", limit: 0 }] }, { at: `${R}/hugepageLimits/0/pageSize` }),
  broken("unified-key", { [`${R}/unified`]: { "a/b": "1" } }, { at: `${R}/unified/a~1b` }),

  rlimit("rlimit-unknown", "0/type", { type: "RLIMIT_FILES", soft: 1, hard: 1 }),
  rlimit("rlimit-unknown", "0/type", { type: "NOFILE", soft: 64, hard: 64 }),
  rlimit("rlimit-order", "0/soft", { type: "RLIMIT_FSIZE", soft: 2, hard: 1 }),
  broken("oom-score-range", { "/process/oomScoreAdj": 4000 }),
  broken("oom-score-range", { "/process/oomScoreAdj": -5000 }),
  broken("io-priority-class", { "/process/ioPriority": { class: "RT", priority: 0 } }, { at: "/process/ioPriority/class" }),
  broken("io-priority-level", { "/process/ioPriority": { class: "IOPRIO_CLASS_BE", priority: 9 } }, { at: "/process/ioPriority/priority" }),
  broken("personality-domain", { "/linux/personality": { domain: "PER_LINUX" } }, { at: "/linux/personality/domain" }),
  broken("memory-policy-mode", { "/linux/memoryPolicy": { mode: "MPOL_STRICT", nodes: "0" } }, { at: "/linux/memoryPolicy/mode" }),
];
