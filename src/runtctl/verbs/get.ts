import { Option } from "commander";
import type { ContainerView, TaskView } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { age, table } from "../output/table.ts";
import { taskOf, tasksOf } from "../tasks.ts";
import { verb } from "../verb.ts";

const HEADER = ["TASK", "CONTAINER", "STATE", "RESTARTS", "AGE", "REASON"];

export const get = verb<{ readonly output?: "json" }>({
  name: "get",
  summary: "tasks and their containers, and why they have stopped",
  define: (command) =>
    command.argument("[name]", "of a task").addOption(new Option("-o, --output <format>", "for programs").choices(["json"])),
  async run(session, [name], { output }) {
    const tasks = name === undefined ? await tasksOf(session) : [await taskOf(session, name)];
    const now = Date.now();
    if (output === "json") console.log(JSON.stringify(tasks, null, 2));
    else if (tasks.length === 0) console.error(`no tasks in group ${session.group}`);
    else
      console.log(
        table(
          HEADER,
          tasks.flatMap((task) => rowsOf(task, now)),
        ),
      );
    return EXIT.done;
  },
});

function rowsOf(task: TaskView, now: number): string[][] {
  return task.containers.map((container) => [
    task.name,
    container.name,
    stateOf(task, container),
    String(container.restarts),
    container.startedMs === null ? "-" : age(now - container.startedMs),
    container.reason ?? exitOf(container) ?? task.reason ?? task.waiting?.join("; ") ?? "",
  ]);
}

function stateOf({ waiting }: TaskView, { known }: ContainerView): string {
  return waiting === null ? known : "WAITING";
}

function exitOf({ exit }: ContainerView): string | undefined {
  return exit?.code === undefined || exit.code === null ? undefined : `exited with ${exit.code}`;
}
