/** Mutants of the volumes that outlive their tasks. */
import type { Mutant } from "./mutant.ts";

const KEPT = "src/engine/run/resources/kept-volumes.ts";
const KEPT_TEST = "test/engine/kept-volumes.test.ts";

export const VOLUME_MUTANTS: readonly Mutant[] = [
  {
    id: "E80b",
    fault: "a volume that a task names is removed",
    file: KEPT,
    from: "if (tasks.length > 0) throw",
    to: "if (tasks.length > 1) throw",
    test: KEPT_TEST,
  },
  {
    id: "E80c",
    fault: "what somebody has mounted there is removed",
    file: KEPT,
    from: "return mounts.has(path) ? undefined : ownDirectory(path);",
    to: "return ownDirectory(path);",
    test: KEPT_TEST,
  },
  {
    id: "E80d",
    fault: "volumes of tasks that are gone stay",
    file: KEPT,
    from: "const left = await this.removeUnused(group, names);",
    to: "const left = await this.removeUnused(group, names.slice(0, 0));",
    test: KEPT_TEST,
  },
  {
    id: "E80e",
    fault: "what a killed daemon was removing stays",
    file: KEPT,
    from: "filter((name) => name.startsWith(ALONE))",
    to: "filter((name) => name === ALONE)",
    test: KEPT_TEST,
  },
  {
    id: "E80f",
    fault: "a volume goes with the first of the tasks that name it",
    file: KEPT,
    from: "const isEnded = other.isDeleteAsked && ",
    to: "const isEnded = other.isDeleteAsked || ",
    test: KEPT_TEST,
  },
  {
    id: "E80g",
    fault: "of tasks that are deleted together none takes the volume",
    file: KEPT,
    from: "&& !isEnded && keptVolumes(other)",
    to: "&& keptVolumes(other)",
    test: KEPT_TEST,
  },
  {
    id: "E80h",
    fault: "a volume is removed in all groups",
    file: KEPT,
    from: 'return [group, name].join("/");',
    to: "return name;",
    test: KEPT_TEST,
  },
];
