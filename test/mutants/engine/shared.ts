/** Mutants of what containers and tasks share, log routers and proxies, and of interfaces that others provide. */
import type { Mutant } from "./mutant.ts";

const INTERFACES = "test/engine/interfaces.test.ts";
const PROXY = "test/engine/shared-proxy.test.ts";
const ROUTER = "test/engine/log-router.test.ts";

export const SHARED_MUTANTS: readonly Mutant[] = [
  {
    id: "E18",
    fault: "an interface that nobody takes waits for ever",
    file: "src/engine/run/resources/interface-state.ts",
    from: `hasPassed(deadline, now) ? "expired" : undefined`,
    to: `hasPassed(deadline, { ...now, bootMs: 0 }) ? "expired" : undefined`,
    test: INTERFACES,
  },
  {
    id: "E18b",
    fault: "what has expired while no daemon was there stays",
    file: "src/engine/run/restore.ts",
    from: "resource.restored?.();",
    to: "void resource;",
    test: INTERFACES,
  },
  {
    id: "E32",
    fault: "a shared proxy runs although nobody uses it",
    file: "src/engine/model/shared-proxy.ts",
    from: `if (isInUse || record.admission === "waiting") return undefined;`,
    to: "return undefined;",
    test: PROXY,
  },
  {
    id: "E32b",
    fault: "a task runs on without its proxy",
    file: "src/engine/model/shared-proxy.ts",
    from: `if (proxies.some((one) => one.desired === "RUNNING" || isUnneeded(one))) return undefined;`,
    to: "return undefined;",
    test: "src/engine/model/shared-proxy.test.ts",
  },
  {
    id: "E50",
    fault: "who uses a shared proxy is not told where its socket is",
    file: "src/engine/run/resources/shared-proxies.ts",
    from: "engineEnv: { SHARED_PROXY_SOCKET:",
    to: "engineEnv: !place.isOwn ? {} : { SHARED_PROXY_SOCKET:",
    test: PROXY,
  },
  {
    id: "E52",
    fault: "a router does not get the secrets of who sends to it",
    file: "src/engine/plan/log-router.ts",
    from: "if (!container.logRouter) return container;",
    to: "return container;",
    test: ROUTER,
  },
  {
    id: "E53b",
    fault: "a link that a router has made leads to another socket of the host",
    file: "src/engine/run/resources/log-routers.ts",
    from: "O_PATH | constants.O_NOFOLLOW",
    to: "O_PATH",
    test: ROUTER,
  },
  {
    id: "E54",
    fault: "the router of another task is looked for on loopback",
    file: "src/engine/run/resources/log-routers.ts",
    from: `router.includes("/") ?`,
    to: `router === "" ?`,
    test: ROUTER,
  },
];
