/** The cache of compiled system call filters, below the state root. */
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, useHarness } from "../support/harness.ts";
import { allowBut, ERRNO, filtered, MKDIR, rule } from "../support/seccomp-profiles.ts";

describe.skipIf(!isRoot || !isRunt)("cache of seccomp filters (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  const run = (change: (config: Config) => void) => runtime(["run", "-b", bundle(change), id()]);
  const cache = join(root, "@cache/seccomp");
  const entries = () => readdirSync(cache).filter((name) => !name.endsWith(".json"));
  const profile = allowBut(rule("ERRNO", MKDIR, { errnoRet: 28 }), rule("ERRNO", ["sethostname"], { errnoRet: 77 }));
  const works = async () => expect((await run(filtered(profile, "mkdir /tmp/x"))).stderr).toContain(ERRNO[28]);

  test("the second container takes the first one's program", async () => {
    rmSync(cache, { recursive: true, force: true });
    await works();
    const [entry = ""] = entries();
    const { ino, mtimeMs } = statSync(join(cache, entry));
    const name = id();
    await ok(["create", "-b", bundle(filtered(profile, "true")), name]);
    expect(entries()).toEqual([entry]);
    expect(statSync(join(cache, entry)).mtimeMs).toBe(mtimeMs);
    expect(statSync(join(root, name, "seccomp.bpf")).ino).toBe(ino);
    expect((await ok(["list", "-q"])).split("\n")).not.toContain("@cache");
  });

  test("damaged, foreign and unusable contents are passed over", async () => {
    await works();
    const [entry = ""] = entries();
    const path = join(cache, entry);
    const good = readFileSync(path);
    const reset = () => rmSync(cache, { recursive: true, force: true });
    const attacks: readonly (() => void)[] = [
      () => truncateSync(path, 8),
      () => writeFileSync(path, Buffer.alloc(good.length)),
      () => writeFileSync(`${path}.json`, "{"),
      () => writeFileSync(`${path}.json`, '{"sha256":1,"unknown":[]}'),
      () => rmSync(`${path}.json`),
      () => chmodSync(path, 0o666),
      () => chmodSync(cache, 0o777),
      () => {
        rmSync(path);
        mkdirSync(path);
      },
      () => {
        rmSync(path);
        symlinkSync("/etc/passwd", path);
      },
      () => {
        reset();
        writeFileSync(cache, "");
      },
    ];
    for (const attack of attacks) {
      attack();
      await works();
      reset();
      await works();
    }
  });

  test("a read-only cache is no reason to fail", async () => {
    rmSync(cache, { recursive: true, force: true });
    symlinkSync("/proc", cache);
    await works();
    rmSync(cache);
  });

  test("it does not grow without bound, and spares what containers use", async () => {
    const name = id();
    await ok(["create", "-b", bundle(filtered(profile, "true")), name]);
    const { ino } = statSync(join(root, name, "seccomp.bpf"));
    for (let index = 0; index < 200; index++) closeSync(openSync(join(cache, `old-${index}`), "w", 0o600));
    linkSync(join(cache, "old-0"), join(directory, "old"));
    await run(filtered(allowBut(rule("ERRNO", MKDIR, { errnoRet: 99 })), "true"));
    expect(entries()).toHaveLength(3);
    expect(entries().map((entry) => statSync(join(cache, entry)).ino)).toContain(ino);
  });
});
