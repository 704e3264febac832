/** Reports the end of a container to its task, or that its records are lost. */
import type { ProcessState } from "../../../executor/index.ts";
import type { Observation } from "../../model/index.ts";
import type { EngineLog } from "../log.ts";
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

/** Reports that what is on disk of a container cannot be used any more: whoever applies this stops it. */
export function postLost({ turns, log }: { readonly turns: Turns; readonly log: EngineLog }, id: string, error: unknown): void {
  log("error", "container-unreadable", { id, message: String(error) });
  observe(turns, id, { state: "lost", message: error instanceof Error ? error.message : String(error) });
}

function post(turns: Turns, runtimeId: string, process: ProcessState): void {
  observe(turns, runtimeId, { state: "exited", exit: exitOf(process) });
}

function observe(turns: Turns, runtimeId: string, observation: Observation): void {
  for (const record of turns.records.values()) {
    const container = record.containers.find((one) => one.runtimeId === runtimeId);
    if (container !== undefined)
      turns.post(record.id, { type: "observed", container: container.name, generation: container.generation, observation });
  }
}
