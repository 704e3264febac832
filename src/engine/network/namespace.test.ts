import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PATIENCE_MS } from "../../../test/support/patience.ts";
import { whileHeld } from "./namespace.ts";

/** Holds a program while the process may open no more files, and again after that. Prints the error, and whether there was a pid. */
const WITHOUT_FILES = `import { closeSync, openSync } from "node:fs";
  const { whileHeld } = await import(${JSON.stringify(join(import.meta.dirname, "namespace.ts"))});
  const open = [], told = [];
  const hold = () => whileHeld(["env"], ${PATIENCE_MS}, (pid) => void told.push(pid > 0)).catch((error) => void told.push(error.message));
  try { for (;;) open.push(openSync("/dev/null")); } catch {}
  await hold();
  for (const one of open) closeSync(one);
  await hold();
  console.log(JSON.stringify(told));`;

test("where no more files can be opened nothing is held, the error says so, and the process goes on", () => {
  const limited = ["-c", 'ulimit -n 100; exec "$@"', "sh", process.execPath, "--import", "tsx", "--input-type=module", "-e", WITHOUT_FILES];
  const { stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8", timeout: PATIENCE_MS });
  expect(stdout, stderr).toBe('["spawn env EMFILE",true]\n');
});

test("a program that is not there, or that ends before it holds anything, is an error", async () => {
  const hold = (...words: string[]) => whileHeld(words, PATIENCE_MS, () => expect.unreachable());
  await expect(hold("runt-test-absent")).rejects.toThrow("spawn runt-test-absent ENOENT");
  await expect(hold("sh", "-c", "echo no >&2; exit 1")).rejects.toThrow("sh -c echo no >&2; exit 1 has failed: no");
});
