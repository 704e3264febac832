/** The first steps of the helper: native-bindings/init/self.c. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";

const PROGRAM = join(REPOSITORY, "build/test/overflow");
const run = async (...words: string[]) => {
  const { exitCode, signal, stdout } = await execa(PROGRAM, words, { reject: false });
  return { exitCode, signal, stdout };
};

describe.skipIf(!existsSync(PROGRAM))("the helper without a loader", () => {
  test("its tables of addresses are right wherever it is put", async () => {
    for (let i = 0; i < 5; i++) expect(await run()).toMatchObject({ exitCode: 0, stdout: "relocated" });
  });

  test("and cannot be written", async () => {
    expect(await run("tables")).toMatchObject({ signal: "SIGSEGV", stdout: "" });
  });

  test("a damaged stack is a trap before the function returns", async () => {
    expect(await run("overflow")).toMatchObject({ signal: "SIGILL", stdout: "" });
  });
});
