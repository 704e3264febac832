const UNEXPLAINED = "not explained: a defect of validate";

/** Why `validate` cannot predict a refusal of `create`, by the message of `create`. */
const REASONS: readonly (readonly [message: RegExp, why: string])[] = [
  [/ramfs|tmpfs|overlay|fsconfig/, "the filesystem checks these options itself, and each kernel does it differently"],
  [/memory limit|cannot allocate memory/, "only a run of the program shows how much memory it needs"],
  [/sysctl\.write/, "each kernel has its own limits for this setting"],
  [/sched_setattr|rt_runtime_us/, "real-time runtime depends on the whole tree of cgroups"],
];

/** The reason for a refusal; one that REASONS does not have is a defect of validate. */
export function whyOf(refusal: string): string {
  return REASONS.find(([message]) => message.test(refusal))?.[1] ?? UNEXPLAINED;
}

const WORKS: Readonly<Record<string, string>> = {
  "seccomp-blocks-start":
    "the filter also refuses the system calls by which init would report that the program cannot be executed: start succeeds, but nothing runs",
};

/** The reason why a container with this error could still be created and started. */
export function whyWorks(code: string): string {
  return WORKS[code] ?? UNEXPLAINED;
}
