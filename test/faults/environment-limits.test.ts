/** Callers with little: descriptors, memory, processes, file size, stack. Each create works, or says what it lacks and leaves nothing. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, type Result, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { below, live, ONE_LINE } from "./environment.ts";

const KIB = 1024;
const KILLED = 137;
/** Of call(): by another signal. */
const CRASHED = 255;
const PT_LOAD = 1;

/** From the first to the last address of the segments of an ELF file of 64 bits (elf(5): e_phoff, e_phentsize, e_phnum; p_type, p_vaddr, p_memsz). */
function mappedBytes(file: Buffer): number {
  const [offset, size, count] = [Number(file.readBigUInt64LE(32)), file.readUInt16LE(54), file.readUInt16LE(56)];
  const loaded = Array.from({ length: count }, (_, index) => offset + index * size).filter((at) => file.readUInt32LE(at) === PT_LOAD);
  const starts = loaded.map((at) => Number(file.readBigUInt64LE(at + 16)));
  const ends = loaded.map((at) => Number(file.readBigUInt64LE(at + 16) + file.readBigUInt64LE(at + 40)));
  return Math.max(...ends) - Math.min(...starts);
}

describe.skipIf(!isRoot || !isRunt)("small limits (needs root)", () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, runtime } = harness;

  const sample = (command: string, change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      // A limit that the caller has lowered is not raised by every root.
      config.process.rlimits = [];
      shell(config, command);
      change(config);
    });

  /** create with this prefix; the container or nothing is there, and delete --force removes it. */
  async function creates(prefix: readonly string[], path: string): Promise<Result> {
    const name = id();
    const result = await below(harness, prefix)(["create", "-b", path, name]);
    const state = await runtime(["state", name]);
    if (result.status === 0) {
      expect(JSON.parse(state.stdout)).toMatchObject({ status: "created" });
      await ok(["start", name]);
    }
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    return result;
  }

  /**
   * From too little to enough. Returns how many worked. Up to `unstartable` Linux cannot even start the program, and says that with a signal.
   */
  async function widen(values: readonly number[], limit: (value: number) => string[], words: RegExp, unstartable = 0): Promise<number> {
    const path = sample("exec sleep 60");
    let worked = 0;
    for (const value of values) {
      const result = await creates(limit(value), path);
      if (result.status === 0) worked++;
      else if (value <= unstartable) expect(result).toMatchObject({ status: CRASHED, stderr: "" });
      else {
        expect(result.stderr, String(value)).toMatch(words);
        expect(result.stderr, String(value)).toMatch(ONE_LINE);
        expect(result.status, String(value)).toBe(1);
        // A limit that was enough once stays enough.
        expect(worked, String(value)).toBe(0);
      }
    }
    expect(worked).toBeLessThan(values.length);
    return worked;
  }

  test("RLIMIT_NOFILE", async () => {
    const limit = (value: number) => ["prlimit", `--nofile=${value}:${value}`];
    expect(await widen([3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 24, 32], limit, /too many open files/)).toBeGreaterThan(0);
  });

  test("RLIMIT_AS", async () => {
    const limit = (value: number) => ["prlimit", `--as=${value * KIB}`];
    // The kernel maps the program, and a first stack, before it runs: with less than this it ends it.
    const image = Math.ceil(mappedBytes(readFileSync(RUNTIME)) / KIB);
    const values = [image - 700, image + 50, ...[250, 700, 900, 1100, 1300, 10_000].map((more) => image + more)];
    expect(await widen(values, limit, /out of memory|cannot allocate memory/, image + 50)).toBeGreaterThan(0);
  });

  test("RLIMIT_FSIZE: no signal ends the runtime, and none is lost to the container", async () => {
    const limit = (value: number) => ["prlimit", `--fsize=${value}`];
    expect(await widen([512, 4096, 64 * KIB, 1 << 20], limit, /file too large/)).toBe(1);
    const name = id();
    const path = sample("ulimit -f; dd if=/dev/zero of=/tmp/big bs=4k count=1000; echo $?", (config) => {
      config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs" });
    });
    const { stdout } = await below(harness, limit(1 << 20))(["run", "-b", path, name]);
    // 25 is SIGXFSZ: its default is not the runtime's own.
    expect(stdout).toContain(String(128 + 25));
    // A message that cannot be written is no success.
    const quiet = await below(harness, ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"])(["state", "nobody"]);
    expect(quiet).toMatchObject({ status: 1, stdout: "", stderr: "" });
  });

  test("RLIMIT_STACK", async () => {
    const limit = (value: number) => ["prlimit", `--stack=${value * KIB}`];
    const path = sample("exec sleep 60");
    for (const value of [64, 128, 512, 8192]) expect(await creates(limit(value), path), String(value)).toMatchObject({ status: 0 });
    const deep = sample("true", (config) => Object.assign(config, { deep: "DEPTH" }));
    const file = join(deep, "config.json");
    writeFileSync(file, readFileSync(file, "utf8").replace('"DEPTH"', "[".repeat(30_000) + "]".repeat(30_000)));
    for (const value of [128, 1024, 4096]) {
      const { status, stderr } = await creates(limit(value), deep);
      expect({ status, stderr: stderr.slice(0, 100) }, String(value)).toEqual({
        status: 1,
        stderr: expect.stringMatching(/^runt: (stack overflow: |.*nested deeper than 256 levels)/),
      });
    }
  });

  test("RLIMIT_CORE and what else a caller may lower: the container is the same", async () => {
    const samples = [sample("exec sleep 60"), sample("id; ulimit -c; ulimit -q; pwd")] as const;
    const look = ["/bin/sh", "-c", "id; ls /proc/self/fd"];
    const plain = await live(below(harness, []), id(), ...samples, look);
    expect(plain.failed).toBeUndefined();
    const lowered = ["prlimit", "--core=0:0", "--msgqueue=0", "--memlock=0", "--sigpending=0", "--nice=0", "--rtprio=0", "--locks=0"];
    const lived = await live(below(harness, lowered), id(), ...samples, look);
    expect(lived.failed).toBeUndefined();
    expect(lived.exec).toBe(plain.exec);
    // Resource limits are the caller's unless config.json says otherwise.
    expect(lived.run).toContain("uid=0(root)");
  });

  test.each([["0"], ["1"], ["2"], ["0 1 2"]])("descriptors %s closed", async (closed) => {
    const redirections = closed.split(" ").map((fd) => `${fd}>&-`);
    const prefix = ["sh", "-c", `exec "$@" ${redirections.join(" ")}`, "sh"];
    const samples = [sample("exec sleep 60"), sample("ls -l /proc/self/fd; echo out; echo err >&2")] as const;
    const lived = await live(below(harness, prefix), id(), ...samples, ["/bin/sh", "-c", "echo out"]);
    expect(lived.failed).toBeUndefined();
    if (!closed.includes("1")) expect(lived.run).toContain("out");
    // Nothing of the host has taken the free number.
    for (const fd of closed.split(" ").filter((one) => one !== "1"))
      if (lived.run) expect(lived.run).toMatch(new RegExp(` ${fd} -> /dev/null`));
  });

  describe("in a cgroup of its own", () => {
    const parents: string[] = [];
    afterAll(() => {
      for (const path of parents) rmdirSync(path);
    });

    /** A command's cgroup with this limit. */
    function inside(controller: string, file: string, value: string): string[] {
      const parent = `${CGROUPS}${isUnified ? "" : `/${controller}`}/runt-caller-${process.pid}-${controller}-${parents.length}`;
      mkdirSync(parent);
      parents.push(parent);
      writeFileSync(`${parent}/${file}`, value);
      return ["sh", "-c", `echo 0 > ${parent}/cgroup.procs && exec "$@"`, "sh"];
    }

    test("no process more", async () => {
      const path = sample("exec sleep 60");
      for (const most of [1, 2, 3, 10]) {
        const result = await creates(inside("pids", "pids.max", String(most)), path);
        if (most === 10) expect(result).toMatchObject({ status: 0 });
        if (result.status === 0) continue;
        expect(result.stderr).toMatch(/resource temporarily unavailable/);
        expect(result.stderr).toMatch(ONE_LINE);
      }
      const run = below(harness, inside("pids", "pids.max", "1"));
      const name = id();
      await ok(["run", "-d", "-b", path, name]);
      // These need no process, and exec says that it needs one.
      for (const args of [["state", name], ["pause", name], ["resume", name], ["list"]])
        expect(await run(args)).toMatchObject({ status: 0 });
      const exec = await run(["exec", name, "true"]);
      expect(exec).toMatchObject({ status: 255 });
      expect(exec.stderr).toMatch(/resource temporarily unavailable/);
      expect(await run(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    });

    test("hardly any memory: the kernel ends it at any point, and nothing is lost", async () => {
      const path = sample("exec sleep 60");
      const file = isUnified ? "memory.max" : "memory.limit_in_bytes";
      let killed = 0;
      let worked = 0;
      for (const kib of [128, 256, 512, 768, 1024, 1280, 1536, 2048, 3072, 8192]) {
        const { status, stderr } = await creates(inside("memory", file, String(kib * KIB)), path);
        if (status === 0) worked++;
        else if (status === KILLED) killed++;
        else expect(stderr, String(kib)).toMatch(/^$|out of memory|cannot allocate memory|died before it was ready/);
      }
      expect(killed).toBeGreaterThan(0);
      expect(worked).toBeGreaterThan(0);
    });
  });

  test("nothing of this was left", () => {
    expect(readdirSync(join(directory, "root")).filter((name) => name !== "@cache")).toEqual([]);
  });
});
