/** Whether a filter keeps a process from becoming a program. Pure. */
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../spec/index.ts";
import { answersOf, Unclear } from "./follow.ts";
import { disassemble, RETURN } from "./stub.ts";

/** execve(2) where runt runs. */
const EXECVE = {
  amd64: { architecture: SECCOMP_ARCHITECTURES.SCMP_ARCH_X86_64, number: 59 },
  arm64: { architecture: SECCOMP_ARCHITECTURES.SCMP_ARCH_AARCH64, number: 221 },
} as const;

/** The low half of an answer is an errno or a note for a tracer. */
const ACTION = 0xffff_0000;
/** Whoever listens decides: the call may be made. */
const PASSING: ReadonlySet<number> = new Set([
  SECCOMP_ACTIONS.SCMP_ACT_ALLOW,
  SECCOMP_ACTIONS.SCMP_ACT_LOG,
  SECCOMP_ACTIONS.SCMP_ACT_NOTIFY,
  SECCOMP_ACTIONS.SCMP_ACT_TRACE,
]);

/** True: every execve(2) is refused. False: it may be allowed, or the program cannot be followed. */
export function refusesExecve(filter: ArrayBuffer, machine: keyof typeof EXECVE): boolean {
  const { architecture, number } = EXECVE[machine];
  try {
    const program = disassemble(filter);
    const answer = answersOf(program, architecture, []).findLast(({ start }) => start <= number);
    const [code, , , value] = program[answer?.at ?? -1] ?? [];
    return code === RETURN && !PASSING.has(((value ?? 0) & ACTION) >>> 0);
  } catch (error) {
    if (error instanceof Unclear) return false;
    throw error;
  }
}
