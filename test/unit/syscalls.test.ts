/** The names of system calls are those of the library that the build has. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { systemCalls } from "../../src/runtime/spec/syscalls.ts";
import { REPOSITORY } from "../support/programs.ts";

const HEADER = `${REPOSITORY}/build/libseccomp/include/seccomp-syscalls.h`;

test.skipIf(!existsSync(HEADER))("no name is missing and none is too many (needs a build of libseccomp)", () => {
  const names = [...readFileSync(HEADER, "utf8").matchAll(/__SNR_(\w+)/g)].map(([, name]) => name ?? "");
  expect([...systemCalls()].sort()).toEqual([...new Set(names)].sort());
});
