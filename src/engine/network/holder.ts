/** Runs a program that makes a namespace, and something with the namespace while a process is in it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lastLines, searchPath } from "./command.ts";
import { NetworkError } from "./errors.ts";

/** Says that it is there, and ends with its standard input. */
const HOLD = ["sh", "-c", "echo; exec cat"];

/**
 * @param words a program that replaces itself by the one that its last arguments name
 * @param act gets the process id. @throws NetworkError program-failed; what `act` throws
 */
export async function whileHeld(
  [program = "", ...args]: readonly string[],
  timeoutMs: number,
  act: (pid: number) => unknown,
): Promise<void> {
  const env = { ...process.env, PATH: searchPath() };
  // No runProgram (src/node): it lives until `act` has ended.
  const holder = spawn(program, [...args, ...HOLD], { stdio: "pipe", cwd: "/", env, timeout: timeoutMs, killSignal: "SIGKILL" });
  let errors = "";
  holder.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  // It may have ended.
  holder.stdin.on("error", () => {});
  const ended = once(holder, "close");
  try {
    const isThere = await Promise.race([once(holder.stdout, "data").then(() => true), ended.then(() => false)]);
    if (!isThere)
      throw new NetworkError("program-failed", `${[program, ...args].join(" ")} has failed: ${lastLines(errors) || "it has said nothing"}`);
    await act(holder.pid!);
  } finally {
    holder.stdin.end();
    await ended.catch(() => {});
  }
}
