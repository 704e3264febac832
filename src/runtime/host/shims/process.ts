/** The part of `node:process` that commander uses. */
import { getenv, argv as hostArgv, exit as hostExit, write } from "runt:host";

function stream(fd: number): { readonly isTTY: boolean; write(text: string): void } {
  return { isTTY: false, write: (text) => write(fd, text) };
}

export const argv: readonly string[] = hostArgv();
export const platform = "linux";
export const execArgv: readonly string[] = [];
export const stdout = stream(1);
export const stderr = stream(2);
export const exit: (status: number) => never = hostExit;

/** `process.env.NAME` without a copy of the whole environment. */
const COLOR_VARIABLES = ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"] as const;
export const env: Readonly<Record<string, string | undefined>> = Object.fromEntries(COLOR_VARIABLES.map((name) => [name, getenv(name)]));
