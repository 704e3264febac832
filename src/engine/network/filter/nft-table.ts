/** Calls nft(8) for one table. */
import { output } from "../command.ts";
import { NetworkError } from "../errors.ts";
import { type Contents, changes, contentsIn, NOTHING } from "./contents.ts";
import { insideProbe } from "./inside-nft.ts";
import { setLines, skeleton, tableLine } from "./table.ts";

export interface NftOptions {
  /** Of this engine, 8 characters. */
  readonly key: string;
  /** Of the state directory. */
  readonly identity: string;
  readonly timeoutMs: number;
}

/** How a program is run that changes the table. */
export interface NftRun {
  readonly timeoutMs: number;
  /** Called with its pid. */
  readonly onStarted?: (pid: number) => void;
}

/** Family and name of the table. */
export function tableOf(key: string): string {
  return `ip runt-${key}`;
}

/** Makes the table, and those in the namespaces of tasks, without committing them: whether the program and the kernel know all that they need. @throws NetworkError program-missing, program-failed */
export async function probeNft({ key, identity, timeoutMs }: NftOptions): Promise<void> {
  const table = tableOf(`probe-${key}`);
  const host = [tableLine(table, identity), ...changes(table, NOTHING, skeleton(identity), setLines(table))];
  await run(["--check"], [...host, ...insideProbe()], { timeoutMs });
  await readTable(tableOf(key), timeoutMs);
}

/** One transaction: all lines, or none. @throws NetworkError program-missing, program-failed */
export async function applyLines(lines: readonly string[], how: NftRun): Promise<void> {
  await run([], lines, how);
}

async function run(options: readonly string[], lines: readonly string[], { timeoutMs, onStarted }: NftRun): Promise<void> {
  await output("nft", [...options, "-f", "-"], timeoutMs, [...lines, ""].join("\n"), onStarted);
}

/** undefined: there is no such table. @throws NetworkError program-missing, program-failed */
export async function readTable(table: string, timeoutMs: number): Promise<Contents | undefined> {
  let text: string;
  try {
    text = await output("nft", ["-j", "list", "table", ...table.split(" ")], timeoutMs);
  } catch (error) {
    if (error instanceof NetworkError && error.code === "program-failed" && /No such file or directory/.test(error.message))
      return undefined;
    throw error;
  }
  try {
    return contentsIn(text);
  } catch (error) {
    throw new NetworkError("program-failed", `nft -j list table ${table} has printed what cannot be read: ${(error as Error).message}`);
  }
}

/** @throws NetworkError program-missing, program-failed */
export async function deleteTable(table: string, how: NftRun): Promise<void> {
  await run([], [`add table ${table}`, `delete table ${table}`], how);
}
