/** Reports the end of a container to its task. */
import type { ProcessState } from "../../../executor/index.ts";
import type { Turns } from "../turn.ts";
import { type ContainerRuntime, exitOf } from "./runtime.ts";

/** If the container that holds the shared namespaces is ending, its end is reported first, because it is the cause of this one. */
export async function postExit(turns: Turns, runtime: ContainerRuntime, id: string, process: ProcessState): Promise<void> {
  const task = [...turns.records.values()].find(({ containers }) => containers.some(({ runtimeId }) => runtimeId === id));
  const holder = task?.containers.find(({ type, known }) => type === "namespacePause" && known === "RUNNING");
  if (holder !== undefined && holder.runtimeId !== id) {
    const end = await runtime.endIfEnding(holder.runtimeId).catch(() => undefined);
    if (end !== undefined) post(turns, holder.runtimeId, end);
  }
  post(turns, id, process);
}

function post(turns: Turns, runtimeId: string, process: ProcessState): void {
  for (const record of turns.records.values()) {
    const container = record.containers.find((one) => one.runtimeId === runtimeId);
    if (container === undefined) continue;
    const observation = { state: "exited", exit: exitOf(process) } as const;
    turns.post(record.id, { type: "observed", container: container.name, generation: container.generation, observation });
  }
}
