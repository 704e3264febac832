/** Mutants of what containers and tasks share: log routers. */
import type { Mutant } from "./mutant.ts";

const ROUTER = "test/engine/log-router.test.ts";

export const SHARED_MUTANTS: readonly Mutant[] = [
  {
    id: "E52",
    fault: "a router does not get the secrets of who sends to it",
    file: "src/engine/plan/log-router.ts",
    from: "if (container.logRouter !== true) return container;",
    to: "return container;",
    test: ROUTER,
  },
  {
    id: "E53b",
    fault: "a link that a router has made leads to another socket of the host",
    file: "src/engine/run/log-routers.ts",
    from: "O_PATH | constants.O_NOFOLLOW",
    to: "O_PATH",
    test: ROUTER,
  },
  {
    id: "E54",
    fault: "the router of another task is looked for on loopback",
    file: "src/engine/run/log-routers.ts",
    from: `router.includes("/") ?`,
    to: `router === "" ?`,
    test: ROUTER,
  },
];
