/** Mutants of tasks in virtual machines. */
import type { Mutant } from "./mutant.ts";

const CHECK = "src/engine/spec/check/machine.ts";
const CHECK_TEST = "src/engine/spec/check/machine.test.ts";
const LAUNCH = "src/engine/plan/launch.ts";
const LAUNCH_TEST = "src/engine/plan/launch.test.ts";
const RELAYS = "src/engine/run/network/relays.ts";
const RELAYS_TEST = "src/engine/run/network/relays.test.ts";

export const MACHINE_MUTANTS: readonly Mutant[] = [
  {
    id: "E28b",
    fault: "a connection to a container in a machine begins on the host",
    file: RELAYS,
    from: "if (isInMachine(record.spec, runtimes))",
    to: "if (isInMachine(record.spec, {}))",
    test: RELAYS_TEST,
  },
  {
    id: "E28c",
    fault: "what waits for an answer in a machine is not ended with its check",
    file: "src/engine/health/connection.ts",
    from: "(one) => one.end(),",
    to: "() => {},",
    test: RELAYS_TEST,
  },
  {
    id: "E28d",
    fault: "why there is no connection is not told",
    file: "src/engine/health/connection.ts",
    from: "output: told.trim() || (error as Error).message",
    to: "output: (error as Error).message",
    test: RELAYS_TEST,
  },
  {
    id: "E31b",
    fault: "a task in a machine may have a privileged container",
    file: CHECK,
    from: "...(privileged ? [",
    to: "...(privileged && path.length > 2 ? [",
    test: CHECK_TEST,
  },
  {
    id: "E31c",
    fault: "a task in a machine may have containers that share no network",
    file: CHECK,
    from: "if (!isShared && task.containers.length > 1)",
    to: "if (!isShared && task.containers.length > 2)",
    test: CHECK_TEST,
  },
  {
    id: "E59c",
    fault: "what holds the namespaces does not say that it boots the machine",
    file: "src/engine/plan/machine.ts",
    from: '[KEY.type]: "sandbox",\n',
    to: "",
    test: "src/engine/plan/machine.test.ts",
  },
  {
    id: "E95b",
    fault: "containers of a machine boot one each",
    file: LAUNCH,
    from: "const sandbox = relay === undefined ? undefined : pause;",
    to: "const sandbox = relay === undefined ? pause : undefined;",
    test: LAUNCH_TEST,
  },
  {
    id: "E95c",
    fault: "nothing in a machine can connect for the daemon",
    file: LAUNCH,
    from: "        ...relayMounts(relay),\n",
    to: "",
    test: LAUNCH_TEST,
  },
  {
    id: "P7b",
    fault: "a machine has no room for a container without a limit",
    file: "src/engine/plan/machine.ts",
    from: "sum + (bytes ?? UNSAID_BYTES)",
    to: "sum + (bytes ?? 0)",
    test: "src/engine/plan/machine.test.ts",
  },
];
