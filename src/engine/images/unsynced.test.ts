import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Places } from "./places.ts";
import { Unsynced } from "./unsynced.ts";

let directory: string;
let places: Places;
let unsynced: Unsynced;
/** The actions so far, in order. */
let done: string[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "runt-unsynced-"));
  places = new Places(directory);
  places.make();
  done = [];
  unsynced = new Unsynced({ places, bootId: "boot", onError: (error) => done.push(String(error)) });
  const file = await open(directory);
  const { sync } = Object.getPrototypeOf(file) as typeof file;
  await file.close();
  vi.spyOn(Object.getPrototypeOf(file), "sync").mockImplementation(async function (this: typeof file) {
    await sync.call(this);
    done.push("synced");
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

const mark = () => join(places.unsynced, "layer");

test("E45: a layer has its name when the disk has its mark, however soon it is unpacked", async () => {
  await unsynced.during("layer", async () => () => {
    done.push(`placed with the mark of ${existsSync(mark()) ? readFileSync(mark(), "utf8") : "nobody"}`);
  });
  // Two syncs: of the mark itself, and of its entry in the directory.
  expect(done.slice(0, 3)).toEqual(["synced", "synced", "placed with the mark of boot"]);
  await vi.waitFor(() => expect(readdirSync(places.unsynced)).toEqual([]), 20_000);
});

test("E45: of what could not be unpacked there is no mark", async () => {
  const failing = unsynced.during("layer", () => Promise.reject(new Error("no room")));
  await expect(failing).rejects.toThrow("no room");
  expect(readdirSync(places.unsynced)).toEqual([]);
});
