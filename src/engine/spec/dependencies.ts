/** The containers that a container waits for: those it names, and its log router. */
import type { ContainerSpec, Dependency } from "./schema/container.ts";

/** "container" belongs to the same task, "task/container" to another one. */
export function dependencyTarget(
  owner: string,
  { container }: Pick<Dependency, "container">,
): Readonly<{ task: string; container: string }> {
  const slash = container.indexOf("/");
  return slash < 0 ? { task: owner, container } : { task: container.slice(0, slash), container: container.slice(slash + 1) };
}

/**
 * A log router starts before the containers that send to it, so that they know its address, and stops after them. If `dependsOn` names the router,
 * that entry is used instead.
 */
export function dependenciesOf({ dependsOn, log }: Pick<ContainerSpec, "dependsOn" | "log">): readonly Dependency[] {
  const router = log?.router;
  if (router === undefined || dependsOn.some(({ container }) => container === router)) return dependsOn;
  return [...dependsOn, { container: router, condition: "START" }];
}
