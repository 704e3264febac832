/** Containers with system call filters, and what their programs get for an answer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";
import * as assert from "./assert.ts";
import type { Change, Context } from "./context.ts";
import { type Filter, filtersOf } from "./filters.ts";
import { withTool } from "./tools.ts";

export interface Argument {
  readonly index: number;
  readonly value: number | bigint;
  readonly valueTwo?: number | bigint;
  readonly op: string;
}
export interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly errnoRet?: number;
  readonly args?: readonly Argument[];
}
export interface Profile {
  readonly defaultAction?: string;
  readonly syscalls?: readonly Rule[];
  readonly [field: string]: unknown;
}

/** A profile as engines have it: it denies what it does not list. */
export const ENGINE: Profile & { readonly syscalls: readonly Rule[] } = JSON.parse(
  readFileSync(join(REPOSITORY, "test/fixtures/seccomp-default.json"), "utf8"),
);

export const rule = (action: string, names: readonly string[], rest: Partial<Rule> = {}): Rule => ({
  names,
  action: `SCMP_ACT_${action}`,
  ...rest,
});

export const allowBut = (...syscalls: readonly Rule[]): Profile => ({ defaultAction: "SCMP_ACT_ALLOW", syscalls });

/** The engine's profile without these calls, which so get its default. */
export const denying = (names: readonly string[], rest: object = {}): Profile => ({
  ...ENGINE,
  syscalls: ENGINE.syscalls
    .map((entry) => ({ ...entry, names: entry.names.filter((name) => !names.includes(name)) }))
    .filter((entry) => entry.names.length > 0),
  ...rest,
});

export const filtered =
  (seccomp: Profile | undefined): Change =>
  (config) =>
    void Object.assign(config.linux, { seccomp });

/** Calls without arguments that do nothing, and one to make a directory, by number (asm/unistd.h). */
export const NUMBER =
  process.arch === "arm64"
    ? { getpid: 172, getppid: 173, getuid: 174, geteuid: 175, getgid: 176, getegid: 177, gettid: 178, mkdir: 34 }
    : { getpid: 39, getppid: 110, getuid: 102, geteuid: 107, getgid: 104, getegid: 108, gettid: 186, mkdir: 83 };

/** How system calls end for a program with this filter: test/probe/calls.c tells how they are written. */
export async function answers(c: Context, profile: Profile, ...words: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { status, stdout, stderr } = await called(c, profile, ...words);
  assert.equal(status, 0, `status ${status}: ${stderr}`);
  const lines = stdout.trimEnd().split("\n");
  return new Map(lines.map((line) => line.split(": ") as [string, string]));
}

export function called(c: Context, profile: Profile, ...words: readonly string[]): ReturnType<Context["run"]> {
  const tool = withTool(c, "calls");
  return c.run(["/tmp/calls", ...words], (config) => {
    filtered(profile)(config);
    tool(config);
  });
}

/** The filters of the program of a running container. */
export async function loaded(c: Context, profile: Profile): Promise<readonly Filter[]> {
  const container = await c.start(filtered(profile));
  const filters = filtersOf(await container.pid());
  await container.delete("--force");
  return filters;
}

/** As test/probe/calls.c prints it. */
export const ENOSPC = "28";

/** SECCOMP_RET_* (linux/seccomp.h). */
export const RETURN = { LOG: 0x7ffc_0000, TRACE: 0x7ff0_0000, ALLOW: 0x7fff_0000, ERRNO: 0x0005_0000 } as const;

/** AUDIT_ARCH_* of this machine. */
export const OWN_TOKEN = process.arch === "arm64" ? 0xc000_00b7 : 0xc000_003e;

/** A call with such arguments gives ENOSPC. */
export const enospc = (name: string, ...args: readonly Argument[]): Rule =>
  rule("ERRNO", [name], { errnoRet: 28, ...(args.length > 0 && { args }) });

/** Each call word must end with the errno beside it. */
export async function expectAnswers(c: Context, profile: Profile, expected: Readonly<Record<string, string>>): Promise<void> {
  assert.deepEqual(Object.fromEntries(await answers(c, profile, ...Object.keys(expected))), expected);
}
