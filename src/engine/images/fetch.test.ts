import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { canBeDeaf, mountKnownDeaf } from "../../../test/support/deaf-mount.ts";
import { parseReference } from "../spec/index.ts";
import { ImageError } from "./errors.ts";
import { resolveSource } from "./fetch.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-fetch-"));
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

/** What the registry sends for every name. */
async function resolved(manifest: unknown) {
  writeFileSync(join(directory, "manifest"), JSON.stringify(manifest));
  writeFileSync(join(directory, "skopeo"), `#!/bin/sh\nexec cat ${join(directory, "manifest")}\n`, { mode: 0o755 });
  return resolveSource(parseReference("docker://registry.invalid/a:1")!, { signal: new AbortController().signal });
}

test.each([{ layers: [{ digest: { toString: 1 } }] }, { layers: [null] }, { schemaVersion: 2, manifests: [{ digest: { toString: 1 } }] }])(
  "R13 a manifest with a digest that is no text is an error of the image: %j",
  async (manifest) => {
    await expect(resolved(manifest)).rejects.toThrow(ImageError);
  },
);

test("a size that is no number is unknown", async () => {
  expect((await resolved({ layers: [{ digest: "d", size: { valueOf: 1, toString: 1 } }] })).layers).toEqual([{ digest: "d", size: 0 }]);
});

test.skipIf(!canBeDeaf)("a layout on a mount that does not answer is refused with its path, and keeps no other waiting", async () => {
  // The mount outlives the end of the test by a moment.
  const deaf = mkdtempSync(join(tmpdir(), "runt-deaf-"));
  onTestFinished(() => rmSync(deaf, { recursive: true }));
  const layout = join(deaf, "layout");
  await mountKnownDeaf(deaf);
  const found = resolveSource(parseReference(`oci:${layout}:v1`)!, { signal: new AbortController().signal });
  await expect(found).rejects.toMatchObject({
    code: "pull-failed",
    message: expect.stringContaining(`${layout} does not answer within 10 s`),
  });
});
