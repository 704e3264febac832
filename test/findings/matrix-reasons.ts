/** Why `validate` does not tell beforehand what `create` then refuses, by what `create` says. */
const REASONS: readonly (readonly [message: RegExp, why: string])[] = [
  [/ramfs|tmpfs|overlay|fsconfig/, "options that the filesystem itself judges, each kernel its own way"],
  [/memory limit|cannot allocate memory/, "how much memory a program takes, only running it can tell"],
  [/sysctl\.write/, "limits of a setting, which each kernel has its own of"],
  [/sched_setattr|rt_runtime_us/, "real time is a matter of the whole tree of cgroups"],
];

/** Words to be put behind a refusal. Throws nothing: what nobody has thought of is said to be that. */
export function whyOf(refusal: string): string {
  const why = REASONS.find(([message]) => message.test(refusal))?.[1];
  return ` — ${why ?? "not explained: a defect of validate"}`;
}

const WORKS: Readonly<Record<string, string>> = {
  "seccomp-blocks-start":
    "the filter also refuses the calls by which init would say that the program could not be executed: start has succeeded, and nothing runs",
};

/** Words to be put behind an error with which a container could be created and started all the same. */
export function whyWorks(code: string): string {
  return ` — ${WORKS[code] ?? "not explained: a defect of validate"}`;
}
