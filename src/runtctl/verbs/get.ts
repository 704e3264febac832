import { Option } from "commander";
import type { OrphanView, TaskView } from "../../engine/index.ts";
import { ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { followEvents } from "../event-stream.ts";
import { HEADER, orphanRow, rowsOf, styled, WIDE_HEADER } from "../output/rows.ts";
import { styleFor } from "../output/style.ts";
import { table } from "../output/table.ts";
import { printValue } from "../output/value.ts";
import { podNamed } from "../pods.ts";
import type { Session } from "../session.ts";
import { orphansOf, taskOf, tasksOf } from "../tasks.ts";
import { verb } from "../verb.ts";

type Format = "json" | "yaml" | "wide" | "name";

interface Options {
  readonly output?: Format;
  readonly watch?: true;
}

export const get = verb<Options>({
  name: "get",
  summary: "list tasks and their containers",
  description: [
    "A container that runs and that the daemon's store does not know is shown as ORPHAN: see runtd --orphans.",
    "With -w it goes on: a row for each change, until it is interrupted; a daemon that is restarted meanwhile is found again.",
    "One task that was made from a pod is shown by -o json and -o yaml as the pod with its status; a list is always one of tasks.",
  ],
  examples: [
    ["get", "a table of the group's tasks"],
    ["get web -o json", "one task, for programs"],
    ["get -w", "each change as it happens"],
  ],
  define: (command) =>
    command
      .argument("[name]", "of a task")
      .addOption(
        new Option("-o, --output <format>", "output format; wide: more columns, name: only names").choices([
          "json",
          "yaml",
          "wide",
          "name",
        ]),
      )
      .option("-w, --watch", "print a row for each change"),
  async run(session, [name], { output, watch }) {
    if (watch && output !== undefined && output !== "wide") throw new UsageError(`-w shows rows: not with -o ${output}`);
    const { lastSequence } = await session.client.call<{ lastSequence: number }>("GET", "/v1/node");
    const tasks = name === undefined ? await tasksOf(session) : [await taskOf(session, name)];
    const orphans = name === undefined && (output === undefined || output === "wide") ? await orphansOf(session) : [];
    const pod = name !== undefined && (output === "json" || output === "yaml") ? await podNamed(session, tasks[0]!) : undefined;
    if (pod === undefined) await print(tasks, orphans, output, session.group);
    else await printValue(pod, output === "yaml" ? "yaml" : "json");
    if (watch) await watchFrom(lastSequence, session, name, output === "wide");
    return EXIT.done;
  },
});

async function print(tasks: readonly TaskView[], orphans: readonly OrphanView[], output: Format | undefined, group: string): Promise<void> {
  if (output === "json" || output === "yaml") await printValue(tasks, output);
  else if (output === "name") for (const { name } of tasks) console.log(name);
  else if (tasks.length + orphans.length === 0) console.error(`no tasks in group ${group}`);
  else console.log(tableOf(tasks, output === "wide", orphans));
}

function tableOf(tasks: readonly TaskView[], isWide: boolean, orphans: readonly OrphanView[] = []): string {
  const nowMs = Date.now();
  const rows = [...tasks.flatMap((task) => rowsOf(task, { isWide, nowMs })), ...orphans.map((one) => orphanRow(one, isWide))];
  return table(isWide ? WIDE_HEADER : HEADER, rows, styled(styleFor(process.stdout, process.env)));
}

async function watchFrom(sequence: number, session: Session, name: string | undefined, isWide: boolean): Promise<void> {
  for await (const told of followEvents(session.sockets, sequence)) {
    if (!("event" in told)) continue;
    const { event } = told;
    if (event.type === "interface" || event.group !== session.group) continue;
    if (name !== undefined && event.name !== name && event.task !== name) continue;
    if (event.type === "removed") console.log(`task ${event.name} is removed`);
    if (event.type !== "container" && event.type !== "waiting" && event.type !== "health") continue;
    const task = await taskOf(session, event.task).catch(unlessUnknown);
    const shown = task && { ...task, containers: task.containers.filter((one) => !("container" in event) || one.name === event.container) };
    // The header was already printed.
    if (shown !== undefined) console.log(tableOf([shown], isWide).split("\n").slice(1).join("\n"));
  }
}

/** undefined if the task was removed after the event. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof ClientError) || error.code !== "unknown-task") throw error;
}
