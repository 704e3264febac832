/** Mutants of single fields of a pod: hooks, grace periods, names of servers, users and runtimes. */
import type { Mutant } from "./mutant.ts";

const HOOKS = "test/engine/hooks.test.ts";
const PRE_STOP = "src/engine/model/pre-stop.test.ts";

export const POD_FIELD_MUTANTS: readonly Mutant[] = [
  {
    id: "P3b",
    fault: "every container is made by the usual program",
    file: "src/engine/run/containers/makers.ts",
    from: "return Object.hasOwn(runtimes, name) ? runtimes[name] : undefined;",
    to: "return undefined;",
    test: "test/engine/runtimes.test.ts",
  },
  {
    id: "P16b",
    fault: "any runtime is taken",
    file: "src/engine/spec/runtimes.ts",
    from: "if (known.includes(name)) return undefined;",
    to: "if (name.length > 0) return undefined;",
    test: "test/engine/runtimes.test.ts",
  },
  {
    id: "P4b",
    fault: "the answer to a hook is judged as that to a probe",
    file: "src/engine/run/checking.ts",
    from: "isHealthy: checked.status !== undefined",
    to: "isHealthy: checked.isHealthy",
    test: HOOKS,
  },
  {
    id: "P4c",
    fault: "an option of the host takes the place of that of the pod",
    file: "src/engine/plan/name-servers.ts",
    from: "options: merged([...options, ...(dns?.options ?? [])])",
    to: "options: merged([...(dns?.options ?? []), ...options])",
    test: "src/engine/plan/name-servers.test.ts",
  },
  {
    id: "P4d",
    fault: "a pod in the host's network has the name servers of its image",
    file: "src/pod/manifest/pod.ts",
    from: "return hostNetwork || dns !== undefined ?",
    to: "return dns !== undefined ?",
    test: "src/pod/manifest/volumes.test.ts",
  },
  {
    id: "P22b",
    fault: "the last phase that was seen is told when nobody can be asked",
    file: "src/pod/status/unknown.ts",
    from: `phase: "Unknown"`,
    to: `phase: "Running"`,
    test: "test/engine/pod-life.test.ts",
  },
  {
    id: "P22c",
    fault: "a watch shows what it has seen last while nobody answers",
    file: "src/runtctl/output/rows.ts",
    from: `isUnknown ? "UNKNOWN" : stateOf`,
    to: `isUnknown ? stateOf(task, container) : stateOf`,
    test: "test/engine/pod-life.test.ts",
  },
  {
    id: "P18b",
    fault: "a hook that waits has ended at once",
    file: "src/engine/run/checking.ts",
    from: "const slept = wait(ms,",
    to: "const slept = wait(0,",
    test: HOOKS,
  },
  {
    id: "E74b",
    fault: "what a hook has taken comes on top of the time to stop",
    file: "src/engine/model/grace.ts",
    from: "return isPart && tookMs !== null ?",
    to: "return !isPart && tookMs !== null ?",
    test: PRE_STOP,
  },
  {
    id: "E74c",
    fault: "a check has no time to stop of its own",
    file: "src/engine/model/grace.ts",
    from: "return ofCheck ?? spec.stopTimeout",
    to: "return spec.stopTimeout",
    test: PRE_STOP,
  },
];
