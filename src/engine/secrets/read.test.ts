import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { canBeDeaf, DEAF_S, mountDeaf } from "../../../test/support/deaf-mount.ts";
import { readSecret, redact } from "./read.ts";

test.skipIf(!canBeDeaf)(
  "a file whose server does not answer is read until its time is over or it is not wanted, and keeps no other from being read",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "runt-secrets-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const deaf = join(directory, "deaf");
    mkdirSync(deaf);
    writeFileSync(join(directory, "other"), "other");
    await mountDeaf(deaf);
    const started = performance.now();
    const stop = new AbortController();
    const file = join(deaf, "secret");
    // More than Node has threads for files.
    const unwanted = Array.from({ length: 6 }, () => readSecret({ file }, stop.signal));
    const results = Promise.allSettled(unwanted);
    await expect(readSecret({ file }, new AbortController().signal, 300)).rejects.toMatchObject({
      code: "no-secret",
      message: `${file} was not read within 0.3 s`,
    });
    expect(await readFile(join(directory, "other"), "utf8")).toBe("other");
    expect((await readSecret({ file: join(directory, "other") }, stop.signal)).toString()).toBe("other");
    stop.abort(new Error("not wanted"));
    for (const one of await results) expect(one).toMatchObject({ reason: { message: "not wanted" } });
    expect(performance.now() - started).toBeLessThan((DEAF_S * 1000) / 2);
  },
);

test("a secret is hidden in each form that programs give it", () => {
  const secret = "s3cr/et Pa55";
  const text = `a ${secret} b ${Buffer.from(secret).toString("base64")} c ${encodeURIComponent(secret)} d`;
  expect(redact(text, [secret])).toBe("a [hidden] b [hidden] c [hidden] d");
});

test("the longest of them goes first, and what is too short stays", () => {
  expect(redact("user:password", ["password", "user:password", "r:p"])).toBe("[hidden]");
  expect(redact("a to z", ["to"])).toBe("a to z");
});
