/** The part of `node:process` that commander uses. */
import { getenv } from "runt:client";

export { exit, stderr, stdout } from "./output.ts";

/** The words are given to commander. */
export const argv: readonly string[] = [];
export const execArgv: readonly string[] = [];
export const platform = "linux";

export const env: Readonly<Record<string, string | undefined>> = {
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
