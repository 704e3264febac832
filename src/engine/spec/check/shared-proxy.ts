/** Checks shared proxies and the tasks that use them. */
import type { Problem } from "../finding.ts";
import type { TaskSpec } from "../schema/task.ts";

export function checkSharedProxy({ start, sharedProxy, containers }: TaskSpec): Problem[] {
  if (start !== "needed" && sharedProxy === undefined) return [];
  const wrong = (message: string, ...path: (string | number)[]): Problem => ({ code: "combination", message, path });
  return [
    ...(start === "needed" && sharedProxy !== undefined ? [wrong("a shared proxy uses none itself", "sharedProxy")] : []),
    ...containers.flatMap(({ bundle }, index) =>
      bundle === undefined
        ? []
        : [wrong("config.json of a bundle has all variables, and the proxy's socket is one", "containers", index, "bundle")],
    ),
  ];
}

/** Whether `sharedProxy` names a task that is one. */
export function checkProxyReferences(tasks: readonly TaskSpec[]): (Problem & { readonly task: number })[] {
  return tasks.flatMap(({ sharedProxy }, task) => {
    if (sharedProxy === undefined) return [];
    const proxy = tasks.find(({ name }) => name === sharedProxy);
    if (proxy?.start === "needed") return [];
    const message = proxy === undefined ? `there is no task ${sharedProxy}` : `task ${sharedProxy} does not have start: needed`;
    return [{ task, code: "unknown-reference", message, path: ["sharedProxy"] }];
  });
}
