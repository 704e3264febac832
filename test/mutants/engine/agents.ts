/** Mutants of programs that run in containers beside their own. */
import type { Mutant } from "./mutant.ts";

const RUN = "src/engine/run/containers/agents.ts";
const TEST = "src/engine/run/containers/agents.test.ts";

export const AGENT_MUTANTS: readonly Mutant[] = [
  {
    id: "E58",
    fault: "a program that is not there is tried again for ever",
    file: RUN,
    from: "isFinal: error instanceof ProgramError",
    to: "isFinal: false",
    test: TEST,
  },
  {
    id: "E66",
    fault: "an agent that runs is told without its pid",
    file: RUN,
    from: `tell({ known: "RUNNING", pid, restarts, reason: null })`,
    to: `tell({ known: "RUNNING", pid: null, restarts, reason: null })`,
    test: TEST,
  },
  {
    id: "E86",
    fault: "every wait is as short as the first",
    file: RUN,
    from: "backoff.initial * 2 ** shortRuns",
    to: "backoff.initial",
    test: TEST,
  },
  {
    id: "E86b",
    fault: "what is told of an earlier incarnation counts for this one",
    file: "src/engine/model/apply-event.ts",
    from: "if (found?.generation !== generation) return record;",
    to: "if (found === undefined) return record;",
    test: "src/engine/model/apply-event.test.ts",
  },
];
