/** How a container ends by `stop`, with every client that speaks in Docker's manner. */
import { engine, type Scenario } from "../scenario.ts";
import { detached, inspect, logs } from "./client-steps.ts";

export const stopping: readonly Scenario[] = [
  {
    name: "stop: TERM is enough",
    steps: [
      detached([], ["sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.1; done"]),
      logs(/ready/),
      engine(["stop", "-t", "10", "{id}"]),
      inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 3$/m),
    ],
  },
  {
    name: "stop: KILL after the time-out",
    steps: [detached(), engine(["stop", "-t", "1", "{id}"]), inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 137$/m)],
  },
];
