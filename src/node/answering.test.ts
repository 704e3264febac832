/** Mounts need root. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { canBeDeaf, mountDeaf } from "../../test/support/deaf-mount.ts";
import { hasServer, untilAnswered } from "./answering.ts";

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
});
