/** Findings about system call filters. */
import { type Entries, entry } from "../catalogue/entry.ts";

const S = "/linux/seccomp";
const section = "config-linux.md#seccomp";
const ERRNO = "SCMP_ACT_ERRNO";
const allow = (...syscalls: object[]) => ({ [S]: { defaultAction: "SCMP_ACT_ALLOW", syscalls } });
const MKDIR = { names: ["mkdir"], action: ERRNO };

export const SECCOMP: Entries = {
  "seccomp-default": entry(
    "error",
    "A filter without a default",
    section,
    "The default decides about all calls that no entry names.",
    "add defaultAction",
    {
      broken: { [S]: { syscalls: [MKDIR] } },
      fixed: allow(MKDIR),
      at: `${S}/defaultAction`,
    },
  ),
  "seccomp-action": entry(
    "error",
    "An unknown action",
    section,
    "The actions are those of seccomp(2), with the prefix SCMP_ACT_.",
    "correct the name",
    {
      broken: allow({ ...MKDIR, action: "SCMP_ACT_ERRN" }),
      fixed: allow(MKDIR),
      at: `${S}/syscalls/0/action`,
    },
  ),
  "seccomp-errno": entry(
    "error",
    "An error number without effect, or too large",
    section,
    "SCMP_ACT_ERRNO has an error number up to 4095, and SCMP_ACT_TRACE up to 65535.",
    "correct it, or leave it out",
    {
      broken: allow({ ...MKDIR, errnoRet: 4096 }),
      fixed: allow({ ...MKDIR, errnoRet: 38 }),
      at: `${S}/syscalls/0/errnoRet`,
    },
  ),
  "seccomp-names": entry("error", "An entry that names no system call", section, "It decides nothing.", "name a system call", {
    broken: allow({ names: [], action: ERRNO }),
    fixed: allow(MKDIR),
    at: `${S}/syscalls/0/names`,
  }),
  "seccomp-unknown-call": entry(
    "warning",
    "An unknown system call",
    section,
    "All runtimes ignore it, so the call is neither allowed nor denied.",
    "correct the name",
    {
      broken: allow({ ...MKDIR, names: ["mkdri"] }),
      fixed: allow(MKDIR),
      at: `${S}/syscalls/0/names/0`,
    },
  ),
  "seccomp-architecture": entry("error", "An unknown architecture", section, "The names are those of libseccomp.", "correct the name", {
    broken: { [S]: { defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_AMD64", "SCMP_ARCH_X86_64"] } },
    fixed: { [S]: { defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64"] } },
    at: `${S}/architectures/0`,
  }),
  "seccomp-architecture-order": entry(
    "error",
    "An architecture of another byte order",
    "seccomp_arch_add(3)",
    "A filter has architectures of one byte order, and always that of the machine.",
    "leave it out",
    {
      broken: { [S]: { defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_S390X"] } },
      fixed: { [S]: { defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_PPC64LE"] } },
      at: `${S}/architectures/1`,
    },
  ),
  "seccomp-native": entry(
    "advice",
    "A filter that does not name the machine's own architecture",
    section,
    "runt adds it; another runtime would kill the program at its first call.",
    "add SCMP_ARCH_X86_64 or SCMP_ARCH_AARCH64",
    {
      broken: { [S]: { defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86"] } },
      fixed: { [S]: { defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"] } },
      at: `${S}/architectures`,
    },
  ),
  "seccomp-flag": entry("error", "An unknown flag", section, "The flags are those of seccomp(2).", "correct the name", {
    broken: { [S]: { defaultAction: "SCMP_ACT_ALLOW", flags: ["SECCOMP_FILTER_FLAG_LOGS"] } },
    fixed: { [S]: { defaultAction: "SCMP_ACT_ALLOW", flags: ["SECCOMP_FILTER_FLAG_LOG"] } },
    at: `${S}/flags/0`,
  }),
  "seccomp-unsupported": entry(
    "error",
    "An action or flag that the kernel does not have",
    "seccomp(2)",
    "The filter could not be loaded.",
    "leave it out, or use another kernel",
    {
      broken: allow({ ...MKDIR, action: "SCMP_ACT_LOG" }),
      fixed: allow(MKDIR),
      at: `${S}/syscalls/0/action`,
      facts: { seccomp: { actions: ["SCMP_ACT_KILL", "SCMP_ACT_ERRNO", "SCMP_ACT_ALLOW"] } },
    },
  ),
  "seccomp-argument": entry("error", "An argument index that no system call has", section, "index is 0 to 5.", "use 0 to 5", {
    broken: allow({ ...MKDIR, args: [{ index: 6, value: 0, op: "SCMP_CMP_EQ" }] }),
    fixed: allow({ ...MKDIR, args: [{ index: 1, value: 0, op: "SCMP_CMP_EQ" }] }),
    at: `${S}/syscalls/0/args/0/index`,
  }),
  "seccomp-operator": entry("error", "An unknown operator", section, "The names are those of libseccomp.", "correct the name", {
    broken: allow({ ...MKDIR, args: [{ index: 1, value: 0, op: "EQ" }] }),
    fixed: allow({ ...MKDIR, args: [{ index: 1, value: 0, op: "SCMP_CMP_EQ" }] }),
    at: `${S}/syscalls/0/args/0/op`,
  }),
  "seccomp-metadata": entry(
    "error",
    "listenerMetadata without listenerPath",
    section,
    "Without a listener, no program gets the metadata.",
    "add listenerPath, or leave it out",
    {
      broken: { [S]: { defaultAction: "SCMP_ACT_ALLOW", listenerMetadata: "m" } },
      fixed: { [S]: { defaultAction: "SCMP_ACT_ALLOW" } },
      at: `${S}/listenerMetadata`,
    },
  ),
  "seccomp-notify": entry(
    "error",
    "SCMP_ACT_NOTIFY that would stop the runtime itself",
    section,
    "After the filter is loaded, init sends the listener with a system call, and reports a failed start with another one.",
    "name single system calls instead, not write, and allow sendmsg",
    {
      broken: { [S]: { defaultAction: "SCMP_ACT_NOTIFY", listenerPath: "/run/agent.sock" } },
      fixed: {
        [S]: { defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/run/agent.sock", syscalls: [{ ...MKDIR, action: "SCMP_ACT_NOTIFY" }] },
      },
      at: `${S}/defaultAction`,
      files: { "/run/agent.sock": { kind: "socket" } },
    },
  ),
  "seccomp-listener": entry(
    "error",
    "SCMP_ACT_NOTIFY without listenerPath",
    section,
    "No program would answer the notifications.",
    "add listenerPath",
    {
      broken: allow({ ...MKDIR, action: "SCMP_ACT_NOTIFY" }),
      fixed: allow(MKDIR),
      at: `${S}/syscalls/0/action`,
    },
  ),
  "seccomp-listener-missing": entry(
    "error",
    "No program listens at listenerPath",
    section,
    "create sends the listener to that socket.",
    "start the agent first",
    {
      broken: {
        [S]: { defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/run/none.sock", syscalls: [{ ...MKDIR, action: "SCMP_ACT_NOTIFY" }] },
      },
      fixed: allow(MKDIR),
      at: `${S}/listenerPath`,
    },
  ),
  "seccomp-blocks-start": entry(
    "error",
    "A filter in which no program can start",
    "seccomp(2)",
    "The program starts after the filter is loaded.",
    "allow execve",
    {
      broken: { [S]: { defaultAction: ERRNO, syscalls: [{ names: ["exit_group"], action: "SCMP_ACT_ALLOW" }] } },
      fixed: { [S]: { defaultAction: ERRNO, syscalls: [{ names: ["exit_group", "execve"], action: "SCMP_ACT_ALLOW" }] } },
      at: `${S}/defaultAction`,
    },
  ),
  "seccomp-blocks-end": entry(
    "warning",
    "A filter in which no program can end",
    "seccomp(2)",
    "Every program ends with exit_group.",
    "allow exit_group",
    {
      broken: { [S]: { defaultAction: ERRNO, syscalls: [{ names: ["execve"], action: "SCMP_ACT_ALLOW" }] } },
      fixed: { [S]: { defaultAction: ERRNO, syscalls: [{ names: ["exit_group", "execve"], action: "SCMP_ACT_ALLOW" }] } },
      at: `${S}/defaultAction`,
    },
  ),
  "seccomp-idle-rule": entry("advice", "An entry with the same action as the default", section, "It has no effect.", "leave it out", {
    broken: allow({ names: ["mkdir"], action: "SCMP_ACT_ALLOW" }),
    fixed: allow(),
    at: `${S}/syscalls/0`,
  }),
  "seccomp-two-answers": entry(
    "warning",
    "Two entries with different actions for one call",
    section,
    "Which one wins depends on the runtime and its library.",
    "name it once",
    {
      broken: allow(MKDIR, { names: ["mkdir"], action: ERRNO, errnoRet: 38 }),
      fixed: allow(MKDIR),
      at: `${S}/syscalls/1/names/0`,
    },
  ),
};
