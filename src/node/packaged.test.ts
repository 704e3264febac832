import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { machineOf, packagedPrograms } from "./packaged.ts";

test("a program of another machine, a script and nothing are told from one of this machine", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-packaged-"));
  const file = (name: string, content: Buffer | string) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const elf = Buffer.alloc(64);
  elf.write("\x7fELF", "latin1");
  elf.writeUInt16LE(183, 18);
  expect(machineOf(file("arm64", elf))).toBe(183);
  expect(machineOf(process.execPath)).toBe(process.arch === "arm64" ? 183 : 62);
  expect(machineOf(file("script", "#!/bin/sh\nexec something that is long enough\n"))).toBeUndefined();
  expect(machineOf(file("short", "\x7fELF"))).toBeUndefined();
  expect(machineOf(join(directory, "missing"))).toBeUndefined();
  expect(machineOf(directory)).toBeUndefined();
  rmSync(directory, { recursive: true });
});

test("every place has the program's name", () => {
  for (const name of ["runt", "runt-pause", "runtctl"] as const)
    for (const path of packagedPrograms(name)) expect(path.endsWith(`/bin/${name}`)).toBe(true);
});
