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
