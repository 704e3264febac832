import { EngineError } from "./errors.ts";

interface Named {
  readonly name: string;
}

/** The container that is named; without a name the only one of its task. @throws EngineError unknown-container */
export function containerOf<C extends Named>({ name: task, containers }: Named & { readonly containers: readonly C[] }, asked?: string): C {
  const found = asked === undefined && containers.length === 1 ? containers[0] : containers.find(({ name }) => name === asked);
  if (found !== undefined) return found;
  const names = containers.map(({ name }) => name);
  const message = asked === undefined ? `task ${task} has more than one container` : `task ${task} has no container ${asked}`;
  throw new EngineError("unknown-container", `${message}: ${names.join(", ")}`, { task, containers: names });
}
