/** The part of `node:process` that commander uses. */
import { getenv, exit as hostExit, write } from "runt:host";

function stream(fd: number): { readonly isTTY: boolean; write(text: string): void } {
  return { isTTY: false, write: (text) => write(fd, text) };
}

/** The words to parse are given to commander. */
export const argv: readonly string[] = [];
export const platform = "linux";
export const execArgv: readonly string[] = [];
export const stdout = stream(1);
export const stderr = stream(2);
export const exit: (status: number) => never = hostExit;

/** `process.env.NAME`, read when it is asked for: this module is evaluated when the engine image is made. */
export const env: { readonly [name in "NO_COLOR" | "FORCE_COLOR" | "CLICOLOR_FORCE"]: string | undefined } = {
  get NO_COLOR() {
    return getenv("NO_COLOR");
  },
  get FORCE_COLOR() {
    return getenv("FORCE_COLOR");
  },
  get CLICOLOR_FORCE() {
    return getenv("CLICOLOR_FORCE");
  },
};
