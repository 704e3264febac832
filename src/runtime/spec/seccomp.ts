/** Names of `linux.seccomp` and what they are to the kernel (linux/seccomp.h, linux/audit.h) and to libseccomp. */
import type { SpecSeccomp } from "./types.ts";

/** SECCOMP_RET_* by action. */
export const SECCOMP_ACTIONS = {
  SCMP_ACT_KILL: 0x0000_0000,
  SCMP_ACT_KILL_PROCESS: 0x8000_0000,
  SCMP_ACT_KILL_THREAD: 0x0000_0000,
  SCMP_ACT_TRAP: 0x0003_0000,
  SCMP_ACT_ERRNO: 0x0005_0000,
  SCMP_ACT_TRACE: 0x7ff0_0000,
  SCMP_ACT_ALLOW: 0x7fff_0000,
  SCMP_ACT_LOG: 0x7ffc_0000,
  SCMP_ACT_NOTIFY: 0x7fc0_0000,
} as const satisfies Record<string, number>;

/** Actions that carry a number for the program, and the highest one the kernel passes on. */
export const SECCOMP_ERRNO_LIMIT: Readonly<Record<string, number>> = { SCMP_ACT_ERRNO: 4095, SCMP_ACT_TRACE: 65535 };

/** enum scmp_compare of libseccomp. */
export const SECCOMP_OPERATORS = {
  SCMP_CMP_NE: 1,
  SCMP_CMP_LT: 2,
  SCMP_CMP_LE: 3,
  SCMP_CMP_EQ: 4,
  SCMP_CMP_GE: 5,
  SCMP_CMP_GT: 6,
  SCMP_CMP_MASKED_EQ: 7,
} as const satisfies Record<string, number>;

/** Tokens of libseccomp: AUDIT_ARCH_*, and one of its own for x32, which the kernel does not tell from x86-64. */
export const SECCOMP_ARCHITECTURES = {
  SCMP_ARCH_X86: 0x4000_0003,
  SCMP_ARCH_X86_64: 0xc000_003e,
  SCMP_ARCH_X32: 0x4000_003e,
  SCMP_ARCH_ARM: 0x4000_0028,
  SCMP_ARCH_AARCH64: 0xc000_00b7,
  SCMP_ARCH_LOONGARCH64: 0xc000_0102,
  SCMP_ARCH_M68K: 0x0000_0004,
  SCMP_ARCH_MIPS: 0x0000_0008,
  SCMP_ARCH_MIPS64: 0x8000_0008,
  SCMP_ARCH_MIPS64N32: 0xa000_0008,
  SCMP_ARCH_MIPSEL: 0x4000_0008,
  SCMP_ARCH_MIPSEL64: 0xc000_0008,
  SCMP_ARCH_MIPSEL64N32: 0xe000_0008,
  SCMP_ARCH_PARISC: 0x0000_000f,
  SCMP_ARCH_PARISC64: 0x8000_000f,
  SCMP_ARCH_PPC: 0x0000_0014,
  SCMP_ARCH_PPC64: 0x8000_0015,
  SCMP_ARCH_PPC64LE: 0xc000_0015,
  SCMP_ARCH_RISCV64: 0xc000_00f3,
  SCMP_ARCH_S390: 0x0000_0016,
  SCMP_ARCH_S390X: 0x8000_0016,
  SCMP_ARCH_SH: 0x4000_002a,
  SCMP_ARCH_SHEB: 0x0000_002a,
} as const satisfies Record<string, number>;

/** linux/audit.h, __AUDIT_ARCH_LE. */
const LITTLE_ENDIAN = 0x4000_0000;

/** libseccomp puts architectures of one byte order into a filter. Every machine that runt runs on is little-endian. */
export function canShareFilter(name: keyof typeof SECCOMP_ARCHITECTURES): boolean {
  return (SECCOMP_ARCHITECTURES[name] & LITTLE_ENDIAN) !== 0;
}

/** SECCOMP_FILTER_FLAG_* that a configuration may name. */
export const SECCOMP_FLAGS = {
  SECCOMP_FILTER_FLAG_TSYNC: 1,
  SECCOMP_FILTER_FLAG_LOG: 2,
  SECCOMP_FILTER_FLAG_SPEC_ALLOW: 4,
  SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV: 32,
} as const satisfies Record<string, number>;

/** Set by runt itself: the load returns a notification descriptor. */
export const SECCOMP_FLAG_NEW_LISTENER = 8;

/** Which of these system calls the profile lets through whatever their arguments, as far as its rules tell without a filter. */
export function surelyAllowed({ defaultAction, syscalls }: SpecSeccomp, calls: readonly string[]): ReadonlySet<string> {
  const allowed = new Set(isPermissive(defaultAction ?? "") ? calls : []);
  const hindered = new Set<string>();
  for (const { action, names, args } of syscalls ?? []) {
    const permits = isPermissive(action);
    for (const call of calls) {
      if (!names?.includes(call)) continue;
      if (!permits) hindered.add(call);
      else if (!args || args.length === 0) allowed.add(call);
    }
  }
  for (const call of hindered) allowed.delete(call);
  return allowed;
}

function isPermissive(action: string): boolean {
  return action === "SCMP_ACT_ALLOW" || action === "SCMP_ACT_LOG";
}
