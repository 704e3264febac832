/** How the two programs are linked (docs/decisions/0028-hardening.md), by what stands in the files. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { type Elf, ET, PF, PT, readElf, SHF } from "../support/elf.ts";
import { isRunt, RUNTIME } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const CLIENT = join(REPOSITORY, "bin/runtctl");
const HELPER = join(REPOSITORY, "build/runt-init");
const MAP = join(REPOSITORY, "build/runt.map");
const MODE = join(REPOSITORY, "build/.mode");
/** A debug build keeps its symbols, and has no image. */
const DEBUG = existsSync(MODE) && readFileSync(MODE, "utf8").trim() !== "";

const segments = (elf: Elf, type: number) => elf.segments.filter((segment) => segment.type === type);
const hasAll = (flags: number, wanted: number) => (flags & wanted) === wanted;

const PROGRAMS = [
  ["runt", RUNTIME],
  ["runt-init", HELPER],
  ["runtctl", CLIENT],
] as const;

describe.skipIf(!isRunt || !existsSync(HELPER)).each(PROGRAMS.filter(([, path]) => existsSync(path)))("%s", (_, path) => {
  const elf = readElf(path);

  test("no loader, no library of the host", () => {
    expect(segments(elf, PT.interp)).toEqual([]);
    expect(elf.needed).toBe(0);
  });

  test("nothing is writable and executable; the stack is not executable", () => {
    const stack = segments(elf, PT.gnuStack);
    expect(stack.map(({ flags }) => flags)).toEqual([PF.read | PF.write]);
    expect(elf.segments.filter(({ flags }) => hasAll(flags, PF.write | PF.execute))).toEqual([]);
    expect(elf.sections.filter(({ flags }) => hasAll(flags, SHF.write | SHF.execute))).toEqual([]);
    const executable = segments(elf, PT.load).filter(({ flags }) => hasAll(flags, PF.execute));
    expect(executable.map(({ flags }) => flags)).toEqual([PF.read | PF.execute]);
  });

  test.skipIf(DEBUG)("no symbols, and no directory of the machine that built it", () => {
    expect(elf.hasSymbols).toBe(false);
    expect(elf.sections.map(({ name }) => name).filter((name) => name.startsWith(".debug"))).toEqual([]);
    const text = readFileSync(path, "latin1");
    for (const directory of [REPOSITORY, "quickjs/work/source", "libseccomp/work/source"]) expect(text).not.toContain(`${directory}/`);
  });
});

describe.skipIf(!isRunt || !existsSync(MAP))("runt", () => {
  const elf = readElf(RUNTIME);

  test("only the engine's image and plain data are writable: no table of addresses is", () => {
    const writable = elf.sections.filter(({ flags }) => hasAll(flags, SHF.write | SHF.alloc)).map(({ name }) => name);
    // The linker always makes the four in front; two entries and nothing that is called once main runs.
    expect(writable).toEqual([".init_array", ".fini_array", ".got", ".got.plt", ".image", ".data", ".bss"]);
    const small = elf.sections.filter(({ name }) => /^\.(init|fini)_array$|^\.got/.test(name));
    expect(small.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(48);
  });
});

const WRITER = join(REPOSITORY, "build/runt-image-writer");
const IMAGE = join(REPOSITORY, "build/engine.image");

describe.skipIf(!isRunt || DEBUG || !existsSync(IMAGE))("the image of the engine", () => {
  test("is the same in every environment, at every moment, wherever the kernel puts the stack", async () => {
    const written = async (env: Record<string, string>) =>
      Buffer.from((await execa(WRITER, { encoding: "buffer", extendEnv: false, env, maxBuffer: 1 << 24 })).stdout);
    const stored = readFileSync(IMAGE);
    expect((await written({})).equals(stored)).toBe(true);
    expect((await written({ TZ: "Asia/Tokyo", LANG: "ja_JP.UTF-8", MUCH: "x".repeat(100_000) })).equals(stored)).toBe(true);
  });
});

describe.skipIf(!isRunt || !existsSync(HELPER))("runt-init", () => {
  const elf = readElf(HELPER);

  test("goes anywhere, and its tables of addresses are read-only once they are right", () => {
    expect(elf.type).toBe(ET.shared);
    const [relro] = segments(elf, PT.gnuRelro);
    const writable = segments(elf, PT.load).filter(({ flags }) => hasAll(flags, PF.write));
    expect(writable).toHaveLength(1);
    // All that the file has for the writable segment is inside of it, up to the page where .bss begins.
    const bss = elf.sections.find(({ name }) => name === ".bss")!;
    expect(relro).toMatchObject({ address: writable[0]!.address, memorySize: bss.address - writable[0]!.address });
    expect(bss.address % 4096).toBe(0);
    expect(relro!.memorySize).toBeGreaterThanOrEqual(writable[0]!.fileSize);
    const names = elf.sections.filter(({ flags }) => hasAll(flags, SHF.write)).map(({ name }) => name);
    expect(names).toEqual([".data.rel.ro", ".dynamic", ".bss"]);
  });

  test("is put elsewhere each time, and protects itself", async () => {
    const trace = async () =>
      (await execa("strace", ["-e", "trace=mprotect", HELPER], { reject: false })).stderr.match(
        /mprotect\((0x[0-9a-f]+), \d+, PROT_READ\) += 0/,
      )?.[1];
    const [first, second] = [await trace(), await trace()];
    expect(first).toBeDefined();
    expect(second).toBeDefined();
    // Only where the machine does not randomise at all.
    if (readFileSync("/proc/sys/kernel/randomize_va_space", "utf8").trim() !== "0") expect(first).not.toBe(second);
  });
});

/** The compiler of Debian guards nothing by itself; most object files have some function with an array. */
const OBJECTS = ["build/program", "build/host", "build/twins", "build/shared", "build/init", "build/libseccomp/work/objects"]
  .map((path) => join(REPOSITORY, path))
  .filter(existsSync);

describe.skipIf(!isRunt || OBJECTS.length === 0)("object files", () => {
  test.each(OBJECTS)("%s: functions with arrays guard the stack", async (directory) => {
    const objects = readdirSync(directory).filter((name) => name.endsWith(".o"));
    const { stdout } = await execa("nm", ["-u", ...objects], { cwd: directory });
    const guarded = stdout.split("\n").filter((line) => line.endsWith(" U __stack_chk_fail"));
    expect(guarded.length / objects.length).toBeGreaterThan(0.1);
  });
});
