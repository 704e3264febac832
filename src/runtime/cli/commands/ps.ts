import { printable, RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { isolationOf } from "../../isolation/index.ts";
import { readRecord } from "../../state/index.ts";
import { processes } from "../../verbs/index.ts";
import { text, type Verb } from "../context.ts";
import { print } from "../output.ts";
import { processList } from "../process-table.ts";

export const verb: Verb = ({ options, positionals, flags }) => {
  const [id, ...args] = positionals as [string, ...string[]];
  const format = text(flags["format"]) ?? "table";
  if (format !== "table" && format !== "json") throw new RuntError("usage", `invalid format option: ${format} (use table or json)`);
  if (format === "json") {
    // Engines look these numbers up on the host, also those of a machine.
    print(`${JSON.stringify(processes(options, id))}\n`);
    return 0;
  }
  const status = isolationOf(readRecord(options.root, id)).passOn(["ps", id, ...args]);
  if (status !== undefined) return status;
  print(table(processes(options, id), args));
  return 0;
};

function table(pids: readonly number[], args: readonly string[]): string {
  const program = findPs();
  if (program !== undefined) return rowsOf(runPs(program, args.length === 0 ? ["-ef"] : args), new Set(pids.map(String)));
  if (args.length > 0 && args.join() !== "-ef") throw new RuntError("operation", 'exec: "ps": executable file not found in $PATH');
  return processList(pids);
}

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** A busy host has thousands of processes with long command lines. */
const OUTPUT_LIMIT = 64 << 20;
const TIMEOUT_MS = 60_000;

function findPs(): string | undefined {
  const path = host.getenv("PATH") || DEFAULT_PATH;
  return path
    .split(":")
    .map((directory) => `${directory || "."}/ps`)
    .find((candidate) => host.access(candidate, host.ACCESS.EXECUTE));
}

/** The output of the host's ps(1). */
function runPs(program: string, args: readonly string[]): string {
  const environment = ["PATH", "HOME", "TERM", "COLUMNS", "LANG", "LC_ALL"].flatMap((name) => {
    const value = host.getenv(name);
    return value === undefined ? [] : [`${name}=${value}`];
  });
  const { status, stdout, stderr } = host.runProgram(program, ["ps", ...args], environment, "", TIMEOUT_MS, OUTPUT_LIMIT);
  if (status !== 0) throw new RuntError("operation", `ps: exit status ${status}: ${stderr.trim()}`);
  return stdout;
}

/** The heading and the rows of these pids. */
export function rowsOf(output: string, pids: ReadonlySet<string>): string {
  const [heading = "", ...rows] = output.split("\n");
  const column = heading.trim().split(/\s+/).indexOf("PID");
  if (column === -1) throw new RuntError("usage", "couldn't find PID field in ps output");
  const kept = rows.filter((row) => pids.has(row.trim().split(/\s+/)[column] ?? ""));
  return `${[heading, ...kept].map(printable).join("\n")}\n`;
}
