import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { previousLog, pruneLogs } from "./segments.ts";

test("the log of the incarnation before stays, with its rotated files; older ones, and nobody else's, go", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-logs-"));
  const other = ["g.web.1.a.1.log", "g.web.1.a-b.0.log", "notes"];
  for (const name of [...other, "g.web.1.b.9.log", "g.web.1.b.9.log.1", "g.web.1.b.8.log", "g.web.1.b.8.log.2", "g.web.1.b.2.log.1"])
    writeFileSync(join(directory, name), "");
  pruneLogs(join(directory, "g.web.1.b.10.log"));
  expect(readdirSync(directory).sort()).toEqual([...other, "g.web.1.b.9.log", "g.web.1.b.9.log.1"].sort());
  expect(previousLog(join(directory, "g.web.1.b.10.log"))).toBe(join(directory, "g.web.1.b.9.log"));
  expect(previousLog(join(directory, "g.web.1.b.9.log"))).toBeUndefined();
  rmSync(directory, { recursive: true });
});
