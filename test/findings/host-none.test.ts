/** `--host none` of plan and of validate is the same host: root, cgroup v2, no security module. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Edits } from "../../src/runtime/check/catalogue/index.ts";
import { sampleConfig } from "../support/config.ts";
import { applyEdits } from "../support/example-host.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY } from "../support/programs.ts";

const R = "/linux/resources";
const directory = mkdtempSync(join(tmpdir(), "runt-host-none-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function status(verb: string): number | null {
  const options = { timeout: PATIENCE_MS } as const;
  return spawnSync(join(REPOSITORY, "bin/runt"), [verb, "--host", "none", "-b", directory], options).status;
}

const EDITS: readonly (readonly [edits: Edits, status: number])[] = [
  [{}, 0],
  [{ [`${R}/memory`]: { swappiness: 60 } }, 1],
  [{ [`${R}/memory`]: { useHierarchy: false } }, 1],
  [{ [`${R}/network`]: { classID: 5 } }, 1],
  [{ [`${R}/unified`]: { "memory.max": "max" } }, 0],
  [{ [`${R}/cpu`]: { cpus: "0-3" } }, 0],
  [{ "/process/apparmorProfile": "x" }, 1],
  [{ "/linux/intelRdt": { closID: "x" } }, 1],
  [{ "/linux/netDevices": { eth0: {} } }, 0],
];

test.each(EDITS)("%j", (edits, expected) => {
  const config = sampleConfig("hello");
  applyEdits(config, edits);
  writeFileSync(join(directory, "config.json"), JSON.stringify(config));
  expect([status("validate"), status("plan")]).toEqual([expected, expected]);
});
