import type { ContainerStatus } from "../../model/index.ts";
import { EngineError } from "../errors.ts";

interface Named {
  readonly name: string;
}

interface Container extends Named {
  readonly type: "normal" | "namespacePause";
}

/** Finds a container by name, or without a name the only container of the task file. @throws EngineError unknown-container */
export function containerOf<C extends Container>(task: Named & { readonly containers: readonly C[] }, asked?: string): C {
  const { name, containers } = task;
  const own = containers.filter(({ type }) => type === "normal");
  const found = asked === undefined && own.length === 1 ? own[0] : containers.find((one) => one.name === asked);
  if (found !== undefined) return found;
  const names = own.map((one) => one.name);
  const message = asked === undefined ? `task ${name} has more than one container` : `task ${name} has no container ${asked}`;
  throw new EngineError("unknown-container", `${message}: ${names.join(", ")}`, { task: name, containers: names });
}

const RUNNING: readonly ContainerStatus[] = ["RUNNING", "RESOURCES_PROVISIONED"];

export const isRunning = (known: ContainerStatus): boolean => RUNNING.includes(known);

/** Likewise, one that runs. @throws EngineError unknown-container, container-not-running */
export function runningContainer<C extends Container & { readonly known: ContainerStatus }>(
  task: Named & { readonly containers: readonly C[] },
  asked: string | undefined,
): C {
  const found = containerOf(task, asked);
  if (isRunning(found.known)) return found;
  const facts = { task: task.name, known: found.known };
  throw new EngineError("container-not-running", `container ${found.name} of task ${task.name} is ${found.known}`, facts);
}
