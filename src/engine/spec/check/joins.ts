/** Checks tasks that use namespaces of other tasks. */
import { dependencyTarget } from "../dependencies.ts";
import type { Problem } from "../finding.ts";
import type { TaskSpec } from "../schema/task.ts";

const JOINED = ["pid", "ipc"] as const;

export function checkJoins({ joins = {}, namespaces, privateUsers, containers, name }: TaskSpec): Problem[] {
  const wrong = (message: string, path: Problem["path"]): Problem => ({ code: "combination", message, path });
  return JOINED.flatMap((type) => {
    const task = joins[type];
    if (task === undefined) return [];
    const targets = containers.flatMap(({ dependsOn }) => dependsOn.map((one) => ({ ...one, task: dependencyTarget(name, one).task })));
    return [
      ...(task === name ? [wrong("a task does not join itself: write `shared`", ["joins", type])] : []),
      ...(namespaces[type] === "private"
        ? []
        : [wrong("uses that of another task: it cannot be shared, or that of the host", ["namespaces", type])]),
      ...(privateUsers ? [wrong("with privateUsers a task has namespaces of its own", ["joins", type])] : []),
      ...containers.flatMap(({ bundle }, at) =>
        bundle === undefined ? [] : [wrong("config.json of a bundle has its namespaces", ["containers", at, "bundle"])],
      ),
      ...(targets.some((one) => one.task === task && one.restart)
        ? []
        : [wrong(`needs a dependency on a container of ${task}, with restart: without that task it cannot run`, ["joins", type])]),
    ];
  });
}

/** Whether `joins` names tasks that share these namespaces. */
export function checkJoinedTasks(tasks: readonly TaskSpec[]): (Problem & { readonly task: number })[] {
  return tasks.flatMap(({ joins = {} }, task) =>
    JOINED.flatMap((type) => {
      const name = joins[type];
      const other = tasks.find((one) => one.name === name);
      if (name === undefined) return [];
      const message = other === undefined ? `there is no task ${name}` : whyNot(other, type);
      return message === undefined ? [] : [{ task, code: "unknown-reference", message, path: ["joins", type] } as const];
    }),
  );
}

function whyNot({ name, namespaces, privateUsers, schedule, update }: TaskSpec, type: (typeof JOINED)[number]): string | undefined {
  if (schedule !== undefined) return `${name} has a schedule: each of its runs is another task`;
  if (update !== undefined) return `${name} has update: a rollout would end its namespaces`;
  if (privateUsers) return `${name} has users of its own`;
  return namespaces[type] === "shared" ? undefined : `task ${name} does not share it: write namespaces.${type}: shared there`;
}
