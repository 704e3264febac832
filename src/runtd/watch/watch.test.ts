/** Watched files on an engine whose store cannot be written. The watch on a real engine: test/engine/watch.test.ts. */
import { lstatSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { Engine } from "../../engine/index.ts";
import type { Files } from "../parsing/files.ts";
import { identityOf } from "../trusted-file.ts";
import type { WatchedText } from "./read.ts";
import { Watch } from "./watch.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-watch-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const FULL = new Error("the disk is full");
const textOf = (path: string, problems: readonly string[]): WatchedText => ({
  ...{ file: { tasks: [], findings: [] }, group: "default", isProject: false, networks: [], digest: "d", warnings: [], problems },
  read: { [path]: identityOf(lstatSync(path)) },
});

test("events that cannot be recorded keep no file from being applied, and no directory counts as failed", async () => {
  const happened: string[] = [];
  const [drifted, refused, applied] = ["a.yaml", "b.yaml", "c.yaml"].map((name) => join(directory, name)) as [string, string, string];
  const gone = [join(directory, "y.yaml"), join(directory, "z.yaml")];
  for (const path of [drifted, refused, applied]) writeFileSync(path, "");
  const watched = {
    all: Object.fromEntries([drifted, ...gone].map((path) => [path, { group: "default", digest: "d" }])),
    move: async () => {},
    apply: async (_: unknown, { path }: { readonly path: string }) => {
      happened.push(`apply ${basename(path)}`);
      return [];
    },
    hasTasks: () => false,
    remove: async (path: string) => {
      happened.push(`remove ${basename(path)}`);
      throw FULL;
    },
    originOf: (path: string) => path,
    tell: async ({ state, path }: { readonly state: string; readonly path: string }) => {
      if (path !== directory) happened.push(`tell ${basename(path)} ${state}`);
      throw FULL;
    },
    condition: (type: string, message: string) => {
      if (message !== "") happened.push(`${type} ${message.replaceAll(`${directory}/`, "")}`);
    },
  };
  const engine = {
    ...{ watched, node: { ledger: { cpus: { capacity: 1 }, memoryBytes: { capacity: 1 } } }, support: { runtimes: {} } },
    plan: () => {
      throw new Error("it is another one");
    },
  } as unknown as Engine;
  const files = { readWatched: async (path: string) => textOf(path, path === refused ? ["it is wrong"] : []) } as unknown as Files;
  const watch = new Watch({ engine, files, directories: [directory], everyMs: 5 });
  onTestFinished(() => watch.stop());
  watch.start();
  await vi.waitFor(() => expect(happened.some((one) => one.startsWith("Drifted"))).toBe(true), 60_000);
  watch.stop();
  const stay = gone.map((path) => `the disk is full: the tasks of ${basename(path)} stay`);
  expect(happened.slice(0, 7)).toEqual([
    ...["tell a.yaml drifted", "tell b.yaml refused", "apply c.yaml", "remove y.yaml", "remove z.yaml"],
    `WatchFailed ${stay.join("; ")}; b.yaml: it is wrong`,
    "Drifted a.yaml: it is another one",
  ]);
});
