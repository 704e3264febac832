/** Disagreements of `validate` with `create` that stay, each with its reason. Everything else is a defect of one of the two. */
import type { Outcome } from "./trial.ts";

export type Disagreement = "missed" | "wrong" | "dry-run";

/** create refused and validate said nothing. */
const MISSED: readonly (readonly [said: RegExp, why: string])[] = [
  [/memory limit of \d+ bytes is too low|cannot allocate memory/, "only a run of the program shows how much memory it needs"],
  [/mount\.(?:filesystem|remount) .*fsconfig/, "the filesystem checks these values itself, and each kernel does it differently"],
  [/sysctl\.write .*(?:congestion_control|reserved_ports|fastopen_key)/, "texts that the kernel itself judges"],
  [/sched_setattr|rt_runtime_us/, "real time is a matter of the whole tree of cgroups"],
];

/** The same, of a configuration with hooks that run before. */
const MISSED_WITH_HOOKS: readonly (readonly [said: RegExp, why: string])[] = [
  [/sysctl\.write "net\/ipv[46]\/(?:conf|neigh)\/eth0\/.*no such file/, "a hook could have brought the interface"],
  [/exec: ".*": stat .*no such file/, "a hook could have put the program there"],
];
const EARLY_HOOKS = /"hooks":\{[^}]*"(?:prestart|createRuntime|createContainer)":\[\{/;

/** validate said an error and the container was created and started. */
const WRONG: Readonly<Record<string, string>> = {
  "seccomp-blocks-start": "the filter also refuses the system calls by which init would report that the program cannot be executed",
};

/** undefined: they agree. A disagreement that has a reason is not told of. */
export function disagreementOf({ errors, refusal, dry, text }: Outcome): Disagreement | undefined {
  if (errors.length === 0 && refusal !== undefined) {
    const accepted = EARLY_HOOKS.test(text) ? [...MISSED, ...MISSED_WITH_HOOKS] : MISSED;
    return accepted.some(([said]) => said.test(refusal)) ? undefined : "missed";
  }
  if (errors.length > 0 && refusal === undefined)
    return errors.every((error) => Object.hasOwn(WRONG, error.split(" ", 1)[0] ?? "")) ? undefined : "wrong";
  // What the plan is refused for is known before anything is made.
  return dry !== undefined && (errors.length === 0 || refusal === undefined) ? "dry-run" : undefined;
}
