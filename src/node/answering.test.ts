/** Mounts need root. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { canBeDeaf, mountDeaf } from "../../test/support/deaf-mount.ts";
import { hasServer, Servers, untilAnswered, untilAnsweredPatiently } from "./answering.ts";

const scene = () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-answering-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
};

test("paths on no mount with a server need no answer, whether they are there or not", async () => {
  const directory = scene();
  symlinkSync("loop", join(directory, "loop"));
  await untilAnswered(["/", directory, join(directory, "none/there"), join(directory, "loop/x"), "/proc/self/exe"]);
});

describe.skipIf(!canBeDeaf)("mounts whose server does not answer (need root and FUSE)", () => {
  test("a path on it, or that a link leads to it, fails with its name in time; the next ones at once, by one process; others answer", async () => {
    const directory = scene();
    const [deaf, other] = [join(directory, "de af"), join(directory, "other")];
    for (const path of [deaf, other]) mkdirSync(path);
    symlinkSync("../de af/x", join(other, "link"));
    await mountDeaf(deaf);
    expect([join(other, "link/below"), deaf, `${deaf}/../other`, other, `${deaf}er`].map(hasServer)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    const message = (path: string, seconds: number) => `${path} does not answer within ${seconds} s: deaf (fuse) is mounted at ${deaf}`;
    const both = ["link/below", "link/beside"].map((name) => untilAnswered([join(other, name)], { timeoutMs: 300 }));
    await untilAnswered([other, directory]);
    for (const [at, one] of (await Promise.allSettled(both)).entries())
      expect(one).toMatchObject({ reason: { message: message(join(other, at === 0 ? "link/below" : "link/beside"), 0.3) } });
    const started = performance.now();
    await expect(untilAnswered([other, deaf], { timeoutMs: 60_000 })).rejects.toThrow(message(deaf, 60));
    expect(performance.now() - started).toBeLessThan(30_000);
    const looks = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
    expect(looks.filter((line) => line.startsWith("stat ") && line.includes(directory))).toHaveLength(1);
  });

  test("the wait for it can be ended", async () => {
    const directory = scene();
    await mountDeaf(directory);
    const stop = new AbortController();
    const waiting = untilAnswered([directory], { signal: stop.signal, timeoutMs: 60_000 });
    stop.abort(new Error("not wanted"));
    await expect(waiting).rejects.toThrow("not wanted");
  });

  /** The looks of this test are a script instead, which writes a line for each. */
  const looking = (script: string) => {
    const programs = scene();
    const told = join(programs, "told");
    writeFileSync(told, "");
    writeFileSync(join(programs, "stat"), `#!/bin/sh\necho "$4" >> ${told}\n${script.replaceAll("HERE", programs)}\n`, { mode: 0o755 });
    const { PATH } = process.env;
    process.env["PATH"] = `${programs}:${PATH}`;
    onTestFinished(() => {
      process.env["PATH"] = PATH;
    });
    return { programs, looks: () => readFileSync(told, "utf8").split("\n").slice(0, -1) };
  };

  test("however many ask a slow server at once, two looks are enough, and each has the whole time", async () => {
    const directory = scene();
    await mountDeaf(directory);
    const { looks } = looking("sleep 1");
    // Many looks one after the other would take longer than that; two of them may not.
    await Promise.all(Array.from({ length: 30 }, () => untilAnswered([directory], { timeoutMs: 10_000 })));
    expect(looks()).toEqual([directory, directory]);
  });

  test("within one look at many paths, each mount and each directory is asked once", async () => {
    const directory = scene();
    await mountDeaf(directory);
    const { looks } = looking("exit 0");
    const servers = new Servers();
    await servers.answered(directory);
    for (const name of ["a", "b", "c"]) await servers.entryAnswered(join(directory, name));
    expect(servers.isPoint(directory)).toBe(true);
    expect(looks()).toEqual([directory]);
  });

  test("a server that starts later is waited for, which is told once; the wait has a bound and can be ended", async () => {
    const directory = scene();
    await mountDeaf(directory);
    const { programs } = looking("until [ -e HERE/go ]; do sleep 0.05; done");
    const stop = new AbortController();
    const told: string[] = [];
    const patience = { signal: stop.signal, onLate: (message: string) => void told.push(message), timeoutMs: 100 };
    const message = `${directory} does not answer within 0.1 s`;
    await expect(untilAnsweredPatiently([directory], { ...patience, patienceMs: 0 })).rejects.toThrow(message);
    const ended = untilAnsweredPatiently([directory], { ...patience, onLate: () => stop.abort(new Error("not wanted")) });
    await expect(ended).rejects.toThrow("not wanted");
    const onLate = (message: string) => {
      patience.onLate(message);
      writeFileSync(join(programs, "go"), "");
    };
    await untilAnsweredPatiently([directory], { signal: new AbortController().signal, onLate, timeoutMs: 10_000 });
    expect(told).toEqual([`${directory} does not answer within 10 s: deaf (fuse) is mounted at ${directory}`]);
  });
});
