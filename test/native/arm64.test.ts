/**
 * The programs for arm64 (tools/cross.mk), under qemu-user where this is another machine.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../../src/runtime/spec/seccomp.ts";
import { PT, readElf } from "../support/elf.ts";
import { answer } from "../support/filters.ts";
import { REPOSITORY } from "../support/programs.ts";

const TREE = join(REPOSITORY, "build/arm64");
const NATIVE = join(REPOSITORY, "bin/runt");
const EMULATOR = "/usr/bin/qemu-aarch64-static";
/** The last has musl of that machine, which is fetched. */
const COMPILERS = ["/usr/bin/aarch64-linux-gnu-gcc", join(TREE, "build/toolchain/musl-gcc")];
const EM_AARCH64 = 183;
/** Of the largest pages that a kernel of arm64 has. */
const LARGEST_PAGE = 65_536;

const PROGRAMS = ["bin/runt", "bin/runtctl", "bin/runt-pause", "build/runt-init"];
/** `make test` builds them where the compiler and the emulator can be had; without make the tests say what is missing. */
const MISSING = process.arch === "arm64" ? "this is that machine" : [EMULATOR, ...COMPILERS].find((file) => !existsSync(file));

const emulated = (words: readonly string[], cwd = TREE, options: readonly string[] = []) =>
  execa(EMULATOR, [...options, ...words], { cwd, reject: false });

describe.skipIf(MISSING !== undefined)(`the programs for arm64${MISSING === undefined ? "" : ` (skipped: ${MISSING})`}`, () => {
  test.each(PROGRAMS)("%s can be mapped by kernels with pages of 4, 16 and 64 KiB", (name) => {
    const elf = readElf(join(TREE, name));
    expect(elf.machine).toBe(EM_AARCH64);
    const loaded = elf.segments.filter(({ type }) => type === PT.load);
    expect(loaded.length).toBeGreaterThan(1);
    for (const { alignment, address, offset } of loaded) {
      expect(alignment % LARGEST_PAGE).toBe(0);
      expect((address - offset) % LARGEST_PAGE).toBe(0);
    }
    // Two segments in one page could not have different rights.
    const pages = loaded.map(({ address, memorySize }) => [
      Math.floor(address / LARGEST_PAGE),
      Math.floor((address + memorySize - 1) / LARGEST_PAGE),
    ]);
    for (const [index, [first]] of pages.entries()) expect(first).toBeGreaterThan(pages[index - 1]?.[1] ?? -1);
    // What becomes read-only after the start ends where a page does.
    for (const { address, memorySize } of elf.segments.filter(({ type }) => type === PT.gnuRelro))
      expect((address + memorySize) % LARGEST_PAGE).toBe(0);
  });

  test("the bytecode is that of this machine: the compiler gives the same on both", () => {
    const names = readdirSync(join(REPOSITORY, "build/bytecode"));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names)
      expect(readFileSync(join(TREE, "build/bytecode", name)).equals(readFileSync(join(REPOSITORY, "build/bytecode", name)))).toBe(true);
  });

  test("the image of the engine does not depend on where the stack and the memory of the writer are", async () => {
    const recorded = readFileSync(join(TREE, "build/engine.image"));
    const { stdout } = await execa(EMULATOR, ["-R", "0x40000000", "build/runt-image-writer"], {
      ...{ cwd: TREE, encoding: "buffer", env: { MUCH: "x".repeat(9999) } },
    });
    expect(Buffer.from(stdout).equals(recorded)).toBe(true);
  });

  describe("a bundle", () => {
    const directory = join(tmpdir(), `runt-arm64-${process.pid}`);
    afterAll(() => rmSync(directory, { recursive: true, force: true }));
    const both = async (...words: string[]) => {
      const [here, there] = await Promise.all([
        execa(NATIVE, words, { cwd: directory, reject: false }),
        emulated([join(TREE, "bin/runt"), ...words], directory),
      ]);
      return { here, there };
    };

    beforeAll(async () => {
      mkdirSync(directory);
      const { exitCode } = await emulated([join(TREE, "bin/runt"), "spec"], directory);
      expect(exitCode).toBe(0);
      // A program of no machine, so that both say the same of it.
      mkdirSync(join(directory, "rootfs/bin"), { recursive: true });
      writeFileSync(join(directory, "rootfs/bin/sh"), "#!/bin/true\n", { mode: 0o755 });
      cpSync(join(directory, "rootfs/bin/sh"), join(directory, "rootfs/bin/true"));
    });

    test("version and the client's", async () => {
      const { here, there } = await both("--version");
      expect(there).toMatchObject({ exitCode: 0, stdout: here.stdout });
      const { exitCode, stdout } = await emulated(["bin/runtctl", "--version"]);
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout: (JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as { version: string }).version,
      });
    });

    test("spec writes what it writes here", async () => {
      const written = readFileSync(join(directory, "config.json"), "utf8");
      const other = mkdtempSync(join(directory, "spec-"));
      await execa(NATIVE, ["spec", "--bundle", other]);
      expect(written).toBe(readFileSync(join(other, "config.json"), "utf8"));
    });

    test.each([["validate"], ["plan", "of-arm64"], ["create", "--dry-run", "of-arm64"]])("%s says what it says here", async (...words) => {
      const { here, there } = await both(...words);
      expect(here.stdout + here.stderr).not.toBe("");
      expect({ status: there.exitCode, said: there.stdout, complained: there.stderr }).toEqual({
        ...{ status: here.exitCode, said: here.stdout, complained: here.stderr },
      });
    });

    test("with pages of 16 and 64 KiB, as far as the emulator has them", async () => {
      for (const page of ["16384", "65536"]) {
        const { exitCode, stdout } = await emulated([join(TREE, "bin/runt"), "plan", "of-arm64"], directory, ["-p", page]);
        expect(exitCode, page).toBe(0);
        expect(stdout).toMatch(/^# sha256:/);
      }
    });

    test("a program of this machine is refused", async () => {
      const path = join(directory, "x86");
      mkdirSync(join(path, "rootfs/bin"), { recursive: true });
      cpSync(NATIVE, join(path, "rootfs/bin/sh"));
      const config = readFileSync(join(directory, "config.json"), "utf8");
      writeFileSync(join(path, "config.json"), config.replace('"sh"', '"/bin/sh"'));
      const { exitCode, stdout } = await emulated([join(TREE, "bin/runt"), "validate", path]);
      expect(exitCode).not.toBe(0);
      expect(stdout).toContain("error[program-machine]");
    });
  });

  describe("filters of system calls", () => {
    const { SCMP_ACT_ALLOW: ALLOW, SCMP_ACT_ERRNO: ERRNO, SCMP_ACT_KILL_THREAD: KILL } = SECCOMP_ACTIONS;
    const { SCMP_ARCH_AARCH64: AARCH64, SCMP_ARCH_ARM: ARM, SCMP_ARCH_X86_64: X86_64 } = SECCOMP_ARCHITECTURES;
    const ENOSPC = 28;
    /** Numbers: include/uapi/asm-generic/unistd.h and arch/arm/tools/syscall.tbl of the kernel. */
    const MKDIRAT = 34;
    const UMOUNT2 = 39;
    const ARM_MKDIR = 39;
    const ARM_MKDIRAT = 323;
    const EXECVE = 221;
    const out = join(TREE, "build/test/filter");
    const program = join(out, "filter");

    beforeAll(async () => {
      const run = (file: string, ...words: string[]) => execa(file, words, { cwd: TREE, env: { RUNT_TARGET: "aarch64-linux-gnu" } });
      const compiler = "build/toolchain/musl-gcc";
      await run("node_modules/.bin/tsx", "tools/bundle.ts", "--debug", "--entry", "test/native/arm64/filter.ts", "--output", out);
      await run(compiler, "-c", join(out, "gen/embed.S"), "-o", join(out, "embed.o"));
      const objects = ["program", "host", "twins", "shared"].flatMap((name) =>
        readdirSync(join(TREE, "build", name)).flatMap((file) => (file.endsWith(".o") ? [join("build", name, file)] : [])),
      );
      const libraries = ["build/quickjs/lib/libquickjs.a", "build/libseccomp/lib/libseccomp.a", "-lm"];
      await run(
        compiler,
        "-static",
        "-no-pie",
        "-Wl,-T,native-bindings/program/image.ld",
        "-o",
        program,
        ...objects,
        join(out, "embed.o"),
        ...libraries,
      );
    });

    async function filters(...profiles: string[]): Promise<readonly ((architecture: number, call: number) => number)[]> {
      const { stdout } = await execa(EMULATOR, [program, ...profiles]);
      return stdout.split("\n").map((line) => {
        const bytes = Uint8Array.from(Buffer.from(line, "hex"));
        const view = new DataView(bytes.buffer);
        return (architecture, call) => answer(view, [call, architecture, ...Array<number>(14).fill(0)]);
      });
    }

    test("have the numbers of AArch64, and those of AArch32 where a profile names it", async () => {
      const rule = `rule ${ERRNO + ENOSPC} - mkdir mkdirat`;
      const [own, two] = await filters(`default ${ALLOW}\n${rule}`, `default ${ALLOW}\narch ${AARCH64}\narch ${ARM}\n${rule}`);
      for (const filter of [own!, two!]) {
        expect(filter(AARCH64, MKDIRAT)).toBe(ERRNO + ENOSPC);
        // mkdir(2) is not there on this machine; its number on the other is another call here.
        expect(filter(AARCH64, UMOUNT2)).toBe(ALLOW);
        expect(filter(X86_64, MKDIRAT)).toBe(KILL);
      }
      expect(own!(ARM, ARM_MKDIR)).toBe(KILL);
      expect(two!(ARM, ARM_MKDIR)).toBe(ERRNO + ENOSPC);
      expect(two!(ARM, ARM_MKDIRAT)).toBe(ERRNO + ENOSPC);
      expect(two!(ARM, MKDIRAT)).toBe(ALLOW);
    });

    test("of a list of what is allowed", async () => {
      const [filter] = await filters(`default ${ERRNO + 1}\nrule ${ALLOW} - execve read`);
      expect(filter!(AARCH64, EXECVE)).toBe(ALLOW);
      expect(filter!(AARCH64, EXECVE + 1)).toBe(ERRNO + 1);
    });
  });
});

/**
 * clone(2) has its last two arguments in another order on arm64 than on x86-64. The helper, which has no libc to know that, passes neither; where both
 * programs want one they use clone3(2), or musl's clone, whose order is the same everywhere.
 */
test("no raw clone(2) has an argument after the stack", () => {
  const sources = ["init", "shared", "host", "program", "pause", "twins"].flatMap((name) => {
    const directory = join(REPOSITORY, "native-bindings", name);
    return readdirSync(directory).flatMap((file) => (/\.[ch]$/.test(file) ? [readFileSync(join(directory, file), "utf8")] : []));
  });
  const calls = sources.flatMap((text) =>
    [...text.matchAll(/\b(?:sys|syscall|raw_call6?)\((?:__NR|SYS)_clone,\s*([^;]*)\)/g)].map(([, words]) => words!),
  );
  expect(calls.length).toBeGreaterThan(5);
  for (const words of calls) expect(words).toMatch(/(?:, (?:0|NULL)){4}$/);
});
