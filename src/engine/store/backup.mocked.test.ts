import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { observed } from "../../../test/support/turns.ts";
import { Store } from "./index.ts";

/** Checksums that are made. */
const counts = vi.hoisted(() => ({ checksums: 0 }));
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto")>();
  const createHash = (algorithm: string) => {
    counts.checksums++;
    return crypto.createHash(algorithm);
  };
  return { ...crypto, createHash };
});

const COUNT = 2000;
let directory: string;
let store: Store;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-backup-"));
  store = new Store({ directory });
  const put = Array.from({ length: COUNT }, (_, index) => ({ kind: "task", key: `${index}`, content: "x".repeat(4096) }) as const);
  store.commit({ put });
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

function copiedCount(): unknown {
  const copy = new DatabaseSync(join(directory, "engine.db.backup"), { readOnly: true });
  try {
    return copy.prepare("SELECT count(*) AS count FROM records").get()?.["count"];
  } finally {
    copy.close();
  }
}

test("the backup of a large store is read while other work goes on, and calls meanwhile join it", async () => {
  const { result, most } = await observed(() => Promise.all([store.backUp(), store.backUp()]), counts);
  expect(result).toHaveLength(2);
  expect(most["checksums"]).toBeLessThan(COUNT / 4);
  expect(statSync(join(directory, "engine.db.backup")).size).toBeGreaterThan(COUNT * 4096);
});

test("what is stored while the copy is read is in the next one", async () => {
  const made = store.backUp();
  store.commit({ put: [{ kind: "task", key: "later", content: "x" }] });
  await made;
  expect(copiedCount()).toBe(COUNT);
  await store.backUp();
  expect(copiedCount()).toBe(COUNT + 1);
});

test("a store that was replaced while its copy is read gets no backup of the old one", async () => {
  const made = store.backUp();
  rmSync(join(directory, "engine.db"));
  await expect(made).rejects.toMatchObject({ code: "not-written", message: expect.stringContaining("deleted or replaced") });
  expect(() => statSync(join(directory, "engine.db.backup"))).toThrow("ENOENT");
});
