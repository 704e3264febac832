/** Arguments of verbs that take one or several tasks, the tasks of a file, or all tasks of a group. */
import type { Command } from "commander";
import type { Restarted, Selected } from "../../engine/index.ts";
import { UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { print } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { DEFAULT_WAIT } from "../until.ts";
import { addComposeOptions, fileToApply } from "./compose.ts";
import { andFile, type ComposeFlags, type FileOption, orFindings } from "./file.ts";

export interface SeveralOptions extends ComposeFlags {
  readonly file?: FileOption["file"];
  readonly all?: true;
  readonly takeOver?: true;
}

export function addSeveral(command: Command): void {
  command
    .argument("[name...]", "names of tasks")
    .option("-f, --file <file>", "the existing tasks of a file for `apply`; - is the standard input", andFile)
    .option("--all", "all tasks of the group")
    .option("--take-over", "with -f: include tasks that another project, or a file without a project, has made");
  addComposeOptions(command, ". Without a file: all tasks of this group, or the named ones");
}

export function addWait(command: Command): void {
  command
    .option("--no-wait", "return as soon as the daemon has recorded the request")
    .option("--timeout <duration>", `wait for at most this long; default: ${DEFAULT_WAIT}`);
}

/** Sends the request. Returns undefined if the file has errors, which were printed. @throws UsageError, ClientError */
export async function askSeveral<Answer extends Selected = Selected>(
  { client, group, givenGroup }: Session,
  path: "/v1/delete" | "/v1/stop" | "/v1/restart",
  names: readonly string[],
  options: SeveralOptions,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer | undefined> {
  const { file, all, takeOver, project } = options;
  const ways = [names.length > 0, file !== undefined, all === true].filter(Boolean).length;
  // A project alone means all its recorded tasks, because its file may be gone.
  if (ways > 1 || (ways === 0 && project === undefined)) throw new UsageError("give task names, -f FILE, -p PROJECT, or --all");
  if (takeOver && file === undefined) throw new UsageError("--take-over is for -f FILE: names and --all mean whatever has them");
  const meant = names.length > 0 ? { names } : { all: true };
  if (file === undefined) return client.call<Answer>("POST", path, { group: project ?? group, ...meant, ...more });
  const read = fileToApply({ ...options, file }, givenGroup, { isQuiet: true });
  if (read === undefined) return undefined;
  const { source, origin, builds, externals, ...body } = read;
  return orFindings({ source, origin }, () => client.call<Answer>("POST", path, { ...body, takeOver: takeOver === true, ...more }));
}

/**
 * Prints one line for each task, and for tasks that the user may have meant, too.
 * @param open ids of tasks that were already reported as not done
 */
export function sayDone(
  { tasks, forgotten, missing, others, stopped = [] }: Selected & Partial<Restarted>,
  what: string,
  { file, all, project }: SeveralOptions,
  open: ReadonlySet<string> = new Set(),
): void {
  const done = tasks.filter(({ id }) => !open.has(id));
  for (const name of new Set([...done.map((one) => one.name), ...forgotten])) print(`task ${name} ${what}`);
  for (const name of missing) print(`task ${printable(name)} is not there`);
  if (file !== undefined) for (const name of others) print(`- task ${name} is not in the file`);
  for (const name of stopped) print(`task ${name} has stopped`);
  const isNone = tasks.length + forgotten.length + missing.length + stopped.length === 0;
  if (isNone && file === undefined)
    print(all || project === undefined ? "the group has no tasks" : `the project ${printable(project)} has no tasks`);
}
