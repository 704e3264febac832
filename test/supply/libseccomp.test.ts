/**
 * The changes that make libseccomp faster (tools/libseccomp/patches) change no program: runt is linked anew with the library as Debian has it, and both are
 * given the same profiles, whose compiled programs must be the same bytes, or the same refusals.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { SECCOMP_ARCHITECTURES, SECCOMP_OPERATORS } from "../../src/runtime/spec/seccomp.ts";
import { systemCalls } from "../../src/runtime/spec/syscalls.ts";
import { call, isRoot, RUNTIME, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";
import { random } from "../support/random.ts";

const BUILD = join(REPOSITORY, "build");
const KIT = existsSync(BUILD) ? readdirSync(BUILD).find((name) => name.endsWith("_relink.tar.gz")) : undefined;
const SOURCE = join(BUILD, "libseccomp/work/source");
const PROFILES = 80;
const NAMES = [...systemCalls()];
const ACTIONS = ["ALLOW", "ERRNO", "KILL_PROCESS", "KILL_THREAD", "LOG", "TRAP"].map((name) => `SCMP_ACT_${name}`);
const VALUES = [0, 1, 2, 8, 64, 0xffff_ffff, 2 ** 32, 2 ** 40 + 3];

type Below = (below: number) => number;
const one = <T>(items: readonly T[], below: Below): T => items[below(items.length)]!;
const some = <T>(items: readonly T[], count: number, below: Below): readonly T[] => [
  ...new Set(Array.from({ length: count }, () => one(items, below))),
];

/** Few and many system calls, with and without comparisons, alone and of several architectures. */
function profile(seed: number): object {
  const below = random(seed);
  const args = () =>
    some([0, 1, 2, 3, 4, 5], 1 + below(3), below).map((index) => ({
      index,
      op: one(Object.keys(SECCOMP_OPERATORS), below),
      value: one(VALUES, below),
      valueTwo: one(VALUES, below),
    }));
  const rule = () => ({
    names: some(NAMES, one([1, 1, 3, 10, 60, 300], below), below),
    action: one(ACTIONS, below),
    ...(below(2) === 0 && { args: args() }),
  });
  const own = ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"];
  return {
    defaultAction: one(ACTIONS, below),
    architectures: below(4) > 0 ? own : some(Object.keys(SECCOMP_ARCHITECTURES), 1 + below(2), below),
    syscalls: Array.from({ length: below(20) }, rule),
  };
}

describe.skipIf(KIT === undefined || !isRoot || !existsSync(SOURCE))("the changed libseccomp (make relink-kit)", () => {
  const { bundle, directory } = useHarness();
  const kit = join(directory, (KIT ?? "").replace(/\.tar\.gz$/, ""));
  const unchanged = join(kit, "runt");

  beforeAll(async () => {
    mkdirSync(directory, { recursive: true });
    await execa("tar", ["-xf", join(BUILD, KIT!), "-C", directory]);
    await execa(join(kit, "libseccomp-compile.sh"), [SOURCE, join(directory, "compiled")]);
    await execa(join(kit, "relink.sh"), [join(directory, "compiled/libseccomp.a")]);
  });

  /** Programs that a `create` leaves in the cache, in hexadecimal, and what it says. */
  async function compiled(runt: string, path: string): Promise<object> {
    const root = join(directory, "filters");
    const { status, stderr } = await call(directory, [runt, "--root", root, "create", "-b", path, "filter"]);
    await call(directory, [runt, "--root", root, "delete", "--force", "filter"]);
    const cache = join(root, "@cache/seccomp");
    const programs = existsSync(cache) ? readdirSync(cache).map((name) => [name, readFileSync(join(cache, name), "hex")]) : [];
    rmSync(root, { recursive: true, force: true });
    return { status, stderr, programs: Object.fromEntries(programs) };
  }

  test("the fixture and random profiles: the same programs", async () => {
    const profiles = [JSON.parse(readFileSync(join(REPOSITORY, "test/fixtures/seccomp-default.json"), "utf8"))];
    for (let seed = 1; seed <= PROFILES; seed++) profiles.push(profile(seed));
    expect(readFileSync(unchanged).equals(readFileSync(RUNTIME))).toBe(false);
    let found = 0;
    for (const seccomp of profiles) {
      const path = bundle((config) => {
        config.linux.seccomp = seccomp;
      });
      const ours = await compiled(RUNTIME, path);
      expect(ours, JSON.stringify(seccomp)).toEqual(await compiled(unchanged, path));
      found += Number(Object.keys((ours as { programs: object }).programs).length > 0);
    }
    expect(found).toBeGreaterThan(PROFILES / 4);
  });
});
