/** Seccomp profiles of configurations, and what the programs under them print. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import { shell } from "./harness.ts";
import { REPOSITORY } from "./programs.ts";

export interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  readonly args?: readonly object[];
}
export interface Profile {
  readonly defaultAction?: string;
  readonly syscalls?: readonly Rule[];
  readonly [field: string]: unknown;
}

/** The profile of an engine. */
export const ENGINE: Profile = JSON.parse(readFileSync(join(REPOSITORY, "test/fixtures/seccomp-default.json"), "utf8"));
export const rule = (action: string, names: readonly string[], rest: Partial<Rule> = {}): Rule => ({
  names,
  action: `SCMP_ACT_${action}`,
  ...rest,
});
export const allowBut = (...syscalls: readonly Rule[]): Profile => ({ defaultAction: "SCMP_ACT_ALLOW", syscalls });
export const filtered =
  (profile: Profile, command?: string) =>
  (config: Config): void => {
    config.linux.seccomp = profile;
    if (command !== undefined) shell(config, command);
  };
export const MKDIR = ["mkdir", "mkdirat"];
/** As busybox words them. */
export const ERRNO = { 5: "Input/output error", 28: "No space left on device", 38: "Function not implemented" } as const;
