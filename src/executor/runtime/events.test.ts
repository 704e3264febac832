import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PATIENCE_MS } from "../../../test/support/patience.ts";
import { LIBRARY_VERSION } from "../version.ts";

/** Asks for events while the process may open no more files, and again after that. Prints the error and the events. */
const WITHOUT_FILES = `import { closeSync, openSync } from "node:fs";
  const { Runtime } = await import(${JSON.stringify(join(import.meta.dirname, "client.ts"))});
  const open = [], told = [];
  const runtime = new Runtime({ binary: process.argv[1] });
  const ask = async () => {
    try { for await (const event of runtime.events("c")) told.push(event); } catch (error) { told.push(error.message); }
  };
  try { for (;;) open.push(openSync("/dev/null")); } catch {}
  await ask();
  for (const one of open) closeSync(one);
  await ask();
  console.log(JSON.stringify(told));`;

test("events: where no more files can be opened the error says so", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-events-"));
  try {
    const binary = join(directory, "runt");
    writeFileSync(binary, `#!/bin/sh\n[ "$1" = --version ] && exec echo runt version ${LIBRARY_VERSION}\necho '{"type":"stats"}'\n`, {
      mode: 0o755,
    });
    const script = [process.execPath, "--import", "tsx", "--input-type=module", "-e", WITHOUT_FILES, binary];
    const { stdout, stderr } = spawnSync("sh", ["-c", 'ulimit -n 100; exec "$@"', "sh", ...script], {
      encoding: "utf8",
      timeout: PATIENCE_MS,
    });
    const message = `runt events: could not be started: Error: spawn ${binary} EMFILE`;
    expect(stdout, stderr).toBe(`${JSON.stringify([message, { type: "stats" }])}\n`);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
