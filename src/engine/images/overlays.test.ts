import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { overlaysOn } from "./overlays.ts";
import { Places } from "./places.ts";

let directory: string;
let places: Places;
const program = (name: string, script: string) => writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-overlays-"));
  places = new Places(join(directory, "images"));
  places.make();
  // Replaces the real function, which needs root. It makes no namespace.
  program("unshare", 'shift 3; exec "$@"');
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test.each([
  ["volatile", "exit 0"],
  ["synced", 'case "$*" in *volatile*) exit 32 ;; esac'],
  ["none", "exit 32"],
])("E63: overlays are mounted as the kernel takes them: %s", async (overlays, mount) => {
  program("mount", mount);
  expect(await overlaysOn(places)).toBe(overlays);
  expect(readdirSync(places.staging)).toEqual([]);
});
