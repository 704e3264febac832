/** Images that services may return to, and those that the store has lost. */
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ImageStore } from "./images.ts";
import { Layout } from "./layout.ts";
import type { ImageId } from "./load.ts";

let directory: string;
const damaged: string[] = [];
const GONE: ImageId = { manifest: `sha256:${"d".repeat(64)}`, config: null };
const store = (images: { readonly used?: readonly ImageId[]; readonly remembered?: readonly ImageId[] } = {}) =>
  new ImageStore({
    ...{ directory: join(directory, "images"), bootId: "b", onSyncError: () => {} },
    ...{ inUse: () => images.used ?? [], remembered: () => images.remembered ?? [], onDamaged: (one) => damaged.push(one) },
  });
/** A blob that no image needs. */
const stray = () => join(directory, `images/layout/blobs/sha256/${"a".repeat(64)}`);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-remembered-"));
  damaged.length = 0;
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test("R12 a damaged image of a version does not keep what nobody needs", async () => {
  const images = store({ remembered: [GONE] });
  writeFileSync(stray(), "x");
  expect(await images.collect({ unusedMs: 0 }, false)).toEqual({ removed: [], freedBytes: 1 });
  expect([existsSync(stray()), damaged]).toEqual([false, []]);
});

test("an image whose last use is years ahead of the clock counts as used now, and keeps its time: the clock may be behind", async () => {
  mkdirSync(join(directory, "images/layout"), { recursive: true });
  new Layout(join(directory, "images/layout")).put({
    ...{ reference: "docker.io/library/a:1", digest: GONE.manifest, manifest: GONE.manifest, manifestSize: 1, config: null },
    pulledMs: Date.parse("2099-01-01"),
  });
  const images = store();
  expect((await images.collect({ unusedMs: 3_600_000 }, false)).removed).toEqual([]);
  const [{ pulledMs } = { pulledMs: 0 }] = new Layout(join(directory, "images/layout")).entries;
  expect(pulledMs).toBe(Date.parse("2099-01-01"));
  expect((await images.collect({ unusedMs: 0 }, false)).removed).toEqual(["docker.io/library/a:1"]);
});

test("a blob that a push still reads is not counted as freed, and no image follows it in vain", async () => {
  mkdirSync(join(directory, "images/layout"), { recursive: true });
  const layout = new Layout(join(directory, "images/layout"));
  const entry = { digest: GONE.manifest, manifest: GONE.manifest, manifestSize: 1, config: null, pulledMs: Date.now() };
  for (const reference of ["docker.io/library/a:1", "docker.io/library/b:1"]) layout.put({ ...entry, reference });
  const images = store();
  writeFileSync(stray(), "read by a push");
  linkSync(stray(), join(directory, "read"));
  const full = { unusedMs: 3_600_000, fullPercent: -1 };
  expect(await images.collect(full, false)).toEqual({ removed: [], freedBytes: 0 });
  expect([existsSync(stray()), readFileSync(join(directory, "read"), "utf8")]).toEqual([false, "read by a push"]);
  expect((await images.collect(full, false)).removed).toEqual(["docker.io/library/a:1", "docker.io/library/b:1"]);
});

test("R12 a damaged image of a container keeps all blobs, and is told of", async () => {
  const images = store({ used: [GONE] });
  writeFileSync(stray(), "x");
  expect(await images.collect({ unusedMs: 0 }, false)).toEqual({ removed: [], freedBytes: 0 });
  expect([existsSync(stray()), new Set(damaged)]).toEqual([true, new Set([GONE.manifest])]);
});

test("R12 an image that the store has lost is asked for by its digest, and its error names that", async () => {
  const asked = join(directory, "asked");
  writeFileSync(join(directory, "skopeo"), `#!/bin/sh\necho "$*" >> ${asked}\necho manifest unknown >&2\nexit 1\n`, { mode: 0o755 });
  const reference = "docker://registry.invalid/a:1";
  const digest = `sha256:${"e".repeat(64)}`;
  const pin = { reference, digest, ...GONE, via: "cache" } as const;
  const { signal } = new AbortController();
  const exact = `docker://registry.invalid/a@${digest}`;
  await expect(store().pull({ reference, policy: "default", signal, pin })).rejects.toThrow(
    `${exact}, which ${reference} was when it was pulled, is no longer in the store: `,
  );
  expect(readFileSync(asked, "utf8")).toBe(`inspect --raw ${exact}\n`);
  await expect(store().pull({ reference, policy: "never", signal, pin })).rejects.toMatchObject({ code: "unknown-image" });
});
