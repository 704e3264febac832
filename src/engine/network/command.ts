/** Runs the programs that set networks up. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { type ProgramOptions, packageOf, runProgram } from "../../node/index.ts";
import { NetworkError } from "./errors.ts";

/** PATH, extended by the directories of administration programs, which not every user has in it. */
export function searchPath(): string {
  return [process.env["PATH"] ?? "/usr/bin:/bin", "/usr/sbin", "/sbin"].join(":");
}

/** Whether `output` would find a program. */
export function isInstalled(program: string): boolean {
  const places = searchPath().split(":");
  return places.some((directory) => statSync(join(directory, program), { throwIfNoEntry: false })?.isFile());
}

/** Runs a program and returns its standard output. @param onStarted called with its pid. @throws NetworkError program-missing, program-failed */
export async function output(
  program: string,
  args: readonly string[],
  timeoutMs: number,
  input = "",
  onStarted?: (pid: number) => void,
): Promise<string> {
  return (await run(program, args, { input, timeoutMs, onStarted })).toString();
}

/** Runs a program whose standard output has any length. @param onLine called with each of its lines. @throws NetworkError program-missing, program-failed */
export async function eachLine(program: string, args: readonly string[], timeoutMs: number, onLine: (line: string) => void): Promise<void> {
  await run(program, args, { timeoutMs, onLine });
}

async function run(program: string, args: readonly string[], options: ProgramOptions): Promise<Buffer> {
  // The messages of some programs are read.
  const env = { ...process.env, LC_ALL: "C", PATH: searchPath() };
  const { failure, stdout, stderr, isTimedOut, error } = await runProgram(program, args, { env, input: "", ...options });
  if (failure === undefined) return stdout;
  if (error?.code === "ENOENT")
    throw new NetworkError("program-missing", `the program ${program} is not installed: it is in the package ${packageOf(program)}`, {
      cause: error,
    });
  if (error !== undefined) throw error;
  const said = isTimedOut ? "" : lastLines(stderr);
  throw new NetworkError("program-failed", `${[program, ...args].join(" ")} ${said === "" ? failure : `has failed: ${said}`}`);
}

const LONGEST_TOLD = 400;

/** The last lines of a text, joined to one line. */
export function lastLines(text: string): string {
  // No regular expression with two ends that are open: a program can print 1 MiB of blanks, for which that takes minutes.
  const lines = text.split("\n").map((line) => line.trim());
  const line = lines.filter((one) => one !== "").join("; ");
  return line.length > LONGEST_TOLD ? `...${line.slice(-LONGEST_TOLD)}` : line;
}
