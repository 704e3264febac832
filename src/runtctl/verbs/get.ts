import { Option } from "commander";
import type { OrphanView, TaskView } from "../../engine/index.ts";
import { unknownObject } from "../../pod/index.ts";
import { ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { followEvents } from "../event-stream.ts";
import { type Columns, headerOf, orphanRow, type RowOptions, rowsOf, styled } from "../output/rows.ts";
import { styleFor } from "../output/style.ts";
import { table } from "../output/table.ts";
import { formatOf } from "../output/value.ts";
import { print, printError, stdout } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { allOrphans, allTasks, objectNamed, taskOf } from "../tasks.ts";
import { verb } from "../verb.ts";

type Format = "json" | "yaml" | "wide" | "name";

interface Options {
  readonly output?: Format;
  readonly watch?: true;
  readonly allGroups?: true;
}

export const get = verb<Options>({
  name: "get",
  summary: "list tasks and their containers",
  description: [
    "ORPHAN marks a running container that is not in the daemon's store: see runtd --orphans.",
    "With -w, get prints a row for each change until it is interrupted. While no daemon answers, the state is UNKNOWN; get continues when the daemon is back.",
    "With a name, -o json and -o yaml show a task that was made from a pod as this pod with its status, and a task that was made from a CronJob as this CronJob. Without a name, they list tasks. If no daemon answers, a document without a kind has the phase Unknown, and the exit status is 3.",
  ],
  examples: [
    ["get", "print a table of the group's tasks"],
    ["get web -o json", "print one task, for programs"],
    ["get -A", "print the tasks of every group"],
    ["get -w", "print each change as it happens"],
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
      .option("-A, --all-groups", "tasks of every group")
      .option("-w, --watch", "print a row for each change"),
  async run(session, [name], { output, watch, allGroups = false }) {
    if (allGroups && name !== undefined) throw new UsageError("-A shows tasks of every group: not with a name");
    if (watch && output !== undefined && output !== "wide") throw new UsageError(`-w shows rows: not with -o ${output}`);
    const format = output === "json" || output === "yaml" ? formatOf(output) : undefined;
    if (name !== undefined && format !== undefined) {
      await printNamed(session, name, format);
      return EXIT.done;
    }
    const { lastSequence } = await session.client.call<{ lastSequence: number }>("GET", "/v1/node");
    const group = allGroups ? undefined : session.group;
    const isShown = (one: { readonly group: string | null }) => group === undefined || one.group === group;
    const all = name === undefined ? await allTasks(session.client) : [await taskOf(session, name)];
    const tasks = name === undefined ? all.filter(isShown) : all;
    const isTable = output === undefined || output === "wide";
    const orphans =
      name === undefined && isTable ? (await allOrphans(session.client)).filter((one) => one.group === null || isShown(one)) : [];
    const columns = { isWide: output === "wide", hasGroups: allGroups };
    if (format !== undefined) print(format(tasks));
    else if (output === "name") for (const one of tasks) print(allGroups ? `${one.group}/${one.name}` : one.name);
    else if (tasks.length + orphans.length === 0)
      printError(group === undefined ? "no tasks" : `no tasks in group ${group}${elsewhere(all)}`);
    else print(tableOf(tasks, columns, orphans));
    if (watch) await watchFrom(lastSequence, session, { name, group, shown: tasks, columns });
    return EXIT.done;
  },
});

type TableOptions = Omit<RowOptions, "nowMs">;

function tableOf(tasks: readonly TaskView[], options: TableOptions, orphans: readonly OrphanView[] = []): string {
  const nowMs = Date.now();
  const rows = [...tasks.flatMap((task) => rowsOf(task, { ...options, nowMs })), ...orphans.map((one) => orphanRow(one, options))];
  return table(headerOf(options), rows, styled(styleFor(stdout), options));
}

/** If no daemon answers, an object with an unknown phase is printed, for programs that look only at the phase. @throws ClientError */
async function printNamed(session: Session, name: string, format: (value: unknown) => string): Promise<void> {
  try {
    const task = await taskOf(session, name);
    print(format((await objectNamed(session, task)) ?? [task]));
  } catch (error) {
    if (error instanceof ClientError && error.code === "unreachable") print(format(unknownObject(name, error.message)));
    throw error;
  }
}

interface Watch {
  readonly name: string | undefined;
  /** undefined: every group. */
  readonly group: string | undefined;
  /** The tasks in the table that was printed first. */
  readonly shown: readonly TaskView[];
  readonly columns: Columns;
}

async function watchFrom(sequence: number, session: Session, { name, group, shown: first, columns }: Watch): Promise<void> {
  const known = new Map(first.map((task) => [task.id, task]));
  // The header was already printed.
  const printRows = (tasks: readonly TaskView[], isUnknown = false) => {
    if (tasks.length > 0)
      print(
        tableOf(tasks, { ...columns, isUnknown })
          .split("\n")
          .slice(1)
          .join("\n"),
      );
  };
  const onConnection = (isConnected: boolean) => printRows([...known.values()], !isConnected);
  for await (const told of followEvents(session.sockets, sequence, { onConnection })) {
    if (!("event" in told)) continue;
    const { event } = told;
    if (event.type === "interface" || event.type === "packetFilter" || event.type === "rollout") continue;
    if (event.type === "watch" || event.type === "pool") continue;
    if (group !== undefined && event.group !== group) continue;
    if (name !== undefined && event.name !== name && event.task !== name) continue;
    if (event.type === "removed") print(`task ${event.name} is removed`);
    if (event.type === "removed") known.delete(event.task);
    if (!["container", "waiting", "health", "check", "schedule", "pull"].includes(event.type)) continue;
    const task = await taskOf(session, event.task).catch(unlessUnknown);
    const shown = task && { ...task, containers: task.containers.filter((one) => !("container" in event) || one.name === event.container) };
    if (task !== undefined) known.set(task.id, task);
    if (shown !== undefined) printRows([shown]);
  }
}

/** undefined if the task was removed after the event. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof ClientError) || error.code !== "unknown-task") throw error;
}

/** What a user has forgotten who has tasks, but not in this group. */
function elsewhere(all: readonly TaskView[]): string {
  if (all.length === 0) return "";
  return `; other groups have ${all.length === 1 ? "one" : all.length}: -A shows them`;
}
