/** tools/test.sh with a stand-in for vitest: what a person sees while lanes run side by side, and how it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PATIENCE_MS } from "../test/support/patience.ts";

/** Prints its project; "slow" ends when the file `go` is there, and what "leaves" leaves behind does too. A project "bad" has one test that fails. */
const VITEST = `#!/bin/sh
for word; do case $word in --outputFile.json=*) report=\${word#*=} ;; esac; done
project=$3
echo "tests of $project$RUNT_TEST_SUBJECT"
while [ "$project" = slow ] && [ ! -e go ] && [ -d tools ]; do sleep 0.05; done
[ "$project" != leaves ] || while [ ! -e go ] && [ -d tools ]; do sleep 0.05; done &
case $project in
bad) echo '{"numPassedTests":0,"numFailedTests":1,"numPendingTests":0,"numTodoTests":0,"success":false,"testResults":[{"name":"x.test.ts","status":"failed","assertionResults":[{"fullName":"breaks","status":"failed","failureMessages":["because"]}]}]}' >"$report"; exit 1 ;;
*) echo '{"numPassedTests":2,"numFailedTests":0,"numPendingTests":0,"numTodoTests":0,"success":true,"testResults":[]}' >"$report" ;;
esac
`;

let tree = "";
let running: ChildProcess | undefined;
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), "runt-lanes-"));
  for (const directory of ["tools", "node_modules/.bin"]) mkdirSync(join(tree, directory), { recursive: true });
  for (const name of ["test.sh", "count.sh", "test-report.mjs"]) cpSync(join(import.meta.dirname, name), join(tree, "tools", name));
  writeFileSync(join(tree, "node_modules/.bin/vitest"), VITEST, { mode: 0o755 });
});
afterEach(() => {
  writeFileSync(join(tree, "go"), "");
  running?.kill();
  rmSync(tree, { recursive: true, force: true });
});

function lanes(...words: string[]) {
  const child = spawn(join(tree, "tools/test.sh"), words, { stdio: ["ignore", "pipe", "pipe"] });
  running = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (output += bytes.toString()));
  const ended = new Promise<number | null>((done) => child.once("close", done));
  return { said: () => output, ended };
}

const WAIT = { timeout: PATIENCE_MS };

test("lanes beside each other show what they do while they do it, each line with its lane, and take what is left", async () => {
  const { said, ended } = lanes("-j", "2", "slow", "quick", "quicker", "third");
  await expect.poll(said, WAIT).toContain("slow | tests of slow\n");
  await expect.poll(said, WAIT).toContain("quick | tests of quick\n");
  await expect.poll(said, WAIT).toMatch(/^quicker \| == quicker has ended after \d+ s, with \d+ s of processor time$/m);
  await expect.poll(said, WAIT).toMatch(/^third \| == third has ended after \d+ s, with \d+ s of processor time$/m);
  expect(said()).not.toContain("slow has ended");
  writeFileSync(join(tree, "go"), "");
  expect(await ended).toBe(0);
  expect(said()).toMatch(/^slow \| == slow has ended/m);
  expect(said()).toMatch(/\n8 passed, 0 failed\n$/);
});

test("a lane ends although something that it has left goes on", async () => {
  const { said, ended } = lanes("-j", "2", "leaves", "quick");
  await expect.poll(said, WAIT).toMatch(/\n4 passed, 0 failed\n$/);
  writeFileSync(join(tree, "go"), "");
  expect(await ended).toBe(0);
});

test.each([
  ["beside others", ["-j", "2", "bad", "quick"]],
  ["after others", ["-j", "1", "quick", "bad"]],
  ["alone", ["bad"]],
  ["before a lane that passes", ["bad", "quick"]],
])("a lane that fails %s makes the whole fail, and is named at the end", async (_, words) => {
  const { said, ended } = lanes(...words);
  expect(await ended).toBe(1);
  expect(said()).toMatch(/\nfailed: bad: .*x\.test\.ts: breaks: because\n\n\d passed, 1 failed\n$/);
});

test.skipIf(process.geteuid?.() !== 0)("a lane in a second place takes one subject, and is counted as the lane (needs root)", async () => {
  const { said, ended } = lanes("-j", "1", "quick@private/cgroups");
  expect(await ended).toBe(0);
  expect(said()).toContain("quick@private/cgroups | tests of quickcgroups\n");
  expect(readFileSync(join(tree, "build/test-counts.txt"), "utf8")).toBe("quick 2 0 0\n");
});

test("a lane alone writes its lines as they are", async () => {
  const { said, ended } = lanes("quick");
  expect(await ended).toBe(0);
  expect(said()).toMatch(/^tests of quick$/m);
  expect(existsSync(join(tree, "build/test/failed"))).toBe(false);
  expect(readFileSync(join(tree, "build/test-counts.txt"), "utf8")).toBe("quick 2 0 0\n");
});
