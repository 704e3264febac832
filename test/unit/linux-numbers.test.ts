/** The numbers against the headers of the kernel and of the C library. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import * as linux from "../../src/shared/linux/index.ts";

/** x86-64 has a table of its own for what differs. */
const ARCHITECTURE = process.arch === "arm64" ? "arm64" : "amd64";

const HEADERS = ["fcntl.h", "poll.h", "signal.h", "errno.h", "unistd.h", "sys/file.h", "sys/resource.h", "sys/stat.h", "sys/wait.h"];
const KERNEL = ["capability", "ioprio", "mempolicy", "mount", "personality", "sched"];

type Numbers = Readonly<Record<string, number | bigint>>;
const named = (prefix: string, numbers: Numbers): [string, number | bigint][] =>
  Object.entries(numbers).map(([name, value]) => [`${prefix}${name}`, value]);

const C_NAMESPACES: Readonly<Record<string, string>> = { mount: "NS", network: "NET" };
const C_ACCESS: Readonly<Record<string, string>> = { EXIST: "F_OK", EXECUTE: "X_OK", WRITE: "W_OK", READ: "R_OK" };
/** linux/sched.h has the name of the kernel's own sources. */
const C_SCHEDULER: Readonly<Record<string, string>> = { SCHED_OTHER: "SCHED_NORMAL" };
/** Newer than the headers of some systems, or reserved. */
const IN_NO_HEADER = new Set(["MPOL_WEIGHTED_INTERLEAVE", "SCHED_ISO"]);

const NUMBERS: readonly (readonly [string, number | bigint])[] = [
  ...named("", Object.fromEntries(linux.CAPABILITIES.map((name, number) => [name, number]))),
  ...named("O_", { ...linux.O, ...linux.ARCHITECTURE_O[ARCHITECTURE] }),
  ...named("LOCK_", linux.LOCK),
  ...named("POLL", linux.POLL),
  ...Object.entries(linux.ACCESS).map(([name, value]) => [C_ACCESS[name] ?? name, value] as const),
  ...named("S_", linux.S),
  ...named("", linux.RLIMIT),
  ...named("MS_", linux.MS),
  ...Object.entries(linux.MOUNT_ATTR).map(
    ([name, value]) => [name === "ATIME" ? "MOUNT_ATTR__ATIME" : `MOUNT_ATTR_${name}`, value] as const,
  ),
  ...Object.entries(linux.CLONE_NEW).map(([name, value]) => [`CLONE_NEW${C_NAMESPACES[name] ?? name.toUpperCase()}`, value] as const),
  ...[linux.IO_PRIORITY_CLASSES, linux.MEMORY_POLICY_FLAGS, linux.MEMORY_POLICY_MODES].flatMap((numbers) => named("", numbers)),
  ...named("", linux.SCHEDULER_FLAGS),
  ...Object.entries(linux.SCHEDULER_POLICIES).map(([name, value]) => [C_SCHEDULER[name] ?? name, value] as const),
  ...named("PER_", linux.PERSONALITY_DOMAINS),
  ...named("SIG", linux.SIGNALS),
  ...named("W", linux.WAIT),
  ["EPERM", linux.EPERM],
];

/** What the compiler says when each of these numbers has to be that of the headers. */
function compile(numbers: readonly (readonly [string, number | bigint])[]): string {
  const source = [
    "#define _GNU_SOURCE",
    ...HEADERS.map((name) => `#include <${name}>`),
    ...KERNEL.map((name) => `#include <linux/${name}.h>`),
    ...numbers.filter(([name]) => !IN_NO_HEADER.has(name)).map(([name, value]) => `_Static_assert((${name}) == ${value}, "${name}");`),
  ].join("\n");
  return spawnSync("gcc", ["-fsyntax-only", "-x", "c", "-"], { input: source, encoding: "utf8" }).stderr;
}

test("every number is that of the headers", () => {
  expect(compile(NUMBERS)).toBe("");
});

test("a wrong one is found", () => {
  expect(compile([["CLONE_NEWNS", linux.CLONE_NEW.mount + 1]])).toContain("static assertion failed");
});
