import type { ContainerView, TaskView } from "../../engine/index.ts";
import { type Arguments, UsageError } from "../arguments.ts";
import type { Client } from "../client.ts";
import { age, table } from "../table.ts";

const HEADER = ["TASK", "CONTAINER", "STATE", "RESTARTS", "AGE", "REASON"];

/** Tasks and their containers. Returns the exit status. */
export async function get(args: Arguments, client: Client): Promise<number> {
  if (args.output !== undefined && args.output !== "json") throw new UsageError(`-o ${args.output}: use json`);
  if (args.names.length > 1) throw new UsageError("get takes one name, or none");
  const tasks = await tasksOf(args, client);
  if (args.output === "json") console.log(JSON.stringify(tasks, null, 2));
  else if (tasks.length === 0) console.error(`no tasks in group ${args.group}`);
  else
    console.log(
      table(
        HEADER,
        tasks.flatMap((task) => rowsOf(task, Date.now())),
      ),
    );
  return 0;
}

async function tasksOf({ names: [name], group }: Arguments, client: Client): Promise<readonly TaskView[]> {
  if (name !== undefined) return [await client.call<TaskView>("GET", taskPath(name, group))];
  const { tasks } = await client.call<{ tasks: TaskView[] }>("GET", "/v1/tasks");
  return tasks.filter((task) => task.group === group);
}

export function taskPath(name: string, group: string): string {
  return `/v1/tasks/${encodeURIComponent(name)}?group=${encodeURIComponent(group)}`;
}

function rowsOf(task: TaskView, now: number): string[][] {
  return task.containers.map((container) => [
    task.name,
    container.name,
    container.known,
    String(container.restarts),
    container.startedMs === null ? "-" : age(now - container.startedMs),
    container.reason ?? exitOf(container) ?? task.reason ?? "",
  ]);
}

function exitOf({ exit }: ContainerView): string | undefined {
  return exit?.code === undefined || exit.code === null ? undefined : `exited with ${exit.code}`;
}
