/** Calls nft(8) for one table. */
import { output } from "../command.ts";
import { NetworkError } from "../errors.ts";
import { type Contents, changes, contentsIn, NOTHING, together } from "./contents.ts";
import { insideProbe } from "./inside-nft.ts";
import { setLines, skeleton, tableLines, tablesOf } from "./table.ts";

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

/**
 * Makes the tables, and those in the namespaces of tasks, without committing them: whether the program and the kernel know all that they need. Returns why there is no
 * table of the family bridge; undefined: there is one. @throws NetworkError program-missing, program-failed
 */
export async function probeNft({ key, identity, timeoutMs }: NftOptions): Promise<string | undefined> {
  const table = tableOf(`probe-${key}`);
  const check = (hasFrames: boolean) => {
    const sets = setLines(table, hasFrames);
    const host = [...tableLines(table, identity, hasFrames), ...changes(table, NOTHING, skeleton(identity, hasFrames), sets)];
    return run(["--check"], [...host, ...insideProbe()], { timeoutMs });
  };
  let because: string | undefined;
  try {
    await check(true);
  } catch (error) {
    if (!(error instanceof NetworkError) || error.code !== "program-failed") throw error;
    await check(false);
    // A busy host may have taken too long for it.
    const again = await check(true).then(
      () => undefined,
      (reason: Error) => reason,
    );
    because = again?.message;
  }
  await readTables(tableOf(key), because === undefined, timeoutMs);
  return because;
}

/** One transaction: all lines, or none. @throws NetworkError program-missing, program-failed */
export async function applyLines(lines: readonly string[], how: NftRun): Promise<void> {
  await run([], lines, how);
}

async function run(options: readonly string[], lines: readonly string[], { timeoutMs, onStarted }: NftRun): Promise<void> {
  await output("nft", [...options, "-f", "-"], timeoutMs, [...lines, ""].join("\n"), onStarted);
}

/** The contents of the tables of the engine together. undefined: there is none of them. @throws NetworkError program-missing, program-failed */
export async function readTables(table: string, hasFrames: boolean, timeoutMs: number): Promise<Contents | undefined> {
  const all = await Promise.all(tablesOf(table, hasFrames).map((one) => readTable(one, timeoutMs)));
  const there = all.filter((one) => one !== undefined);
  return there.length === 0 ? undefined : together(there);
}

/** undefined: there is no such table. @throws NetworkError program-missing, program-failed */
async function readTable(table: string, timeoutMs: number): Promise<Contents | undefined> {
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
export async function deleteTables(table: string, hasFrames: boolean, how: NftRun): Promise<void> {
  await run([], deletion(table, hasFrames), how);
}

/** Lines that delete the tables, whether they are there or not. */
export function deletion(table: string, hasFrames: boolean): string[] {
  return tablesOf(table, hasFrames).flatMap((one) => [`add table ${one}`, `delete table ${one}`]);
}
