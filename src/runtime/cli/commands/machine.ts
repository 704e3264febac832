/** machine: what runs in virtual machines, and what their guests say. */
import { exposition, type GuestReport, guestNumbers, guestSamples } from "../../../shared/metrics/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { guestReport, type MachineFacts, machines, readReport, showConsole } from "../../isolation/index.ts";
import { deriveStatus, type MachineRecord, readRecord, type StateRecord } from "../../state/index.ts";
import { exec } from "../../verbs/index.ts";
import { text, type Verb, type VerbContext } from "../context.ts";
import { print, table } from "../output.ts";

const DEFAULT_SHELL = "/usr/bin/busybox";
const STDIN = 0;

interface Action {
  /** How many words may follow; the first is the id of a container. */
  readonly words: readonly [least: number, most: number];
  readonly run: (context: VerbContext, words: readonly string[]) => number;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  list: { words: [0, 0], run: ({ options, flags }) => list(options.root, text(flags["format"])) },
  console: {
    words: [1, 1],
    run({ options, flags }, [id]) {
      const { record, machine } = running(options.root, id!);
      return showConsole(record, machine, flags["follow"] === true);
    },
  },
  metrics: { words: [0, 1], run: ({ options, flags }, [id]) => metrics(options.root, id, text(flags["format"])) },
  "exec-shell": { words: [1, Number.POSITIVE_INFINITY], run: shell },
  report: {
    words: [0, 0],
    run() {
      print(`${JSON.stringify(readReport())}\n`);
      return 0;
    },
  },
};

export const verb: Verb = (context) => {
  const [name = "", ...words] = context.positionals;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) throw new RuntError("usage", `machine ${name}: use list, console, metrics, exec-shell or report`);
  const [least, most] = action.words;
  if (words.length < least) throw new RuntError("usage", `machine ${name}: the id of a container is missing`);
  if (words.length > most) throw new RuntError("usage", `machine ${name}: too many words`);
  return action.run(context, words);
};

function list(root: string, format = "table"): number {
  if (format !== "table" && format !== "json") throw new RuntError("usage", `invalid format option: ${format} (use table or json)`);
  const found = machines(root);
  if (format === "json") print(`${JSON.stringify(found)}\n`);
  else print(table([["ID", "STATE", "PIDS", "CPUS", "MEMORY", "KERNEL", "UPTIME", "CONTAINERS"], ...found.map(row)], 0));
  return 0;
}

function row({ id, state, processes, cpus, memoryMiB, kernel, uptime, containers }: MachineFacts): string[] {
  return [
    ...[id, state, processes.map(({ pid }) => pid).join(",") || "-", String(cpus ?? "-"), memoryMiB === null ? "-" : `${memoryMiB}MiB`],
    ...[kernel ?? "-", uptime === null ? "-" : `${uptime}s`, containers.join(",")],
  ];
}

/** The machine of a container that runs. @throws RuntError: it is in none, or does not run */
function running(root: string, id: string): { readonly record: StateRecord; readonly machine: MachineRecord } {
  const record = readRecord(root, id);
  const { machine } = record;
  if (!machine) throw new RuntError("not-supported", `the container ${id} is in no machine`);
  const status = deriveStatus(root, record);
  if (status === "stopped" || status === "creating") throw new RuntError("wrong-status", `container with id ${id} is not running`);
  if (status === "paused") throw new RuntError("wrong-status", `the machine of the container ${id} is paused`);
  return { record, machine };
}

function metrics(root: string, id: string | undefined, format = "text"): number {
  if (format !== "text" && format !== "json") throw new RuntError("usage", `invalid format option: ${format} (use text or json)`);
  const found = id === undefined ? machines(root).map((each) => each.id) : [id];
  const reports = found.map((machine): GuestReport => ({ labels: { machine }, numbers: numbersOf(root, machine, id !== undefined) }));
  print(format === "json" ? `${JSON.stringify(reports)}\n` : exposition(guestSamples(reports)));
  return 0;
}

/** `isAsked`: by its id, so that it is an error if it does not run. */
function numbersOf(root: string, id: string, isAsked: boolean): GuestReport["numbers"] {
  try {
    const { record, machine } = running(root, id);
    // Before the start nobody answers for the guest.
    if (deriveStatus(root, record) === "created") return undefined;
    const report = guestReport(record, machine);
    return report === undefined ? undefined : guestNumbers(report);
  } catch (error) {
    // It has just ended, or is paused.
    if (error instanceof RuntError && !isAsked) return undefined;
    throw error;
  }
}

/** Of a failure of runt's own, as for exec: the shell has other statuses. */
const NOT_BEGUN = 255;

/** Does not return if a shell has begun. */
function shell({ options, flags, warned }: VerbContext, [id, ...args]: readonly string[]): number {
  running(options.root, id!);
  const request = {
    ...{ id: id!, args, env: [], additionalGids: [], capabilities: [], cgroups: [], noNewPrivileges: false, preserveFds: 0 },
    ...{ terminal: flags["tty"] === true || host.isatty(STDIN), detach: false, ignorePaused: false },
    shell: text(flags["shell"]) ?? DEFAULT_SHELL,
  };
  try {
    exec(options, request, ({ made }) => warned(made));
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
    throw new RuntError(error.code, error.message, { ...error.details, exitStatus: NOT_BEGUN });
  }
  return 0;
}
