import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const LOG = fileURLToPath(new URL("log.ts", import.meta.url));
/** Writes 20 MB of lines without a reader, then one more line each millisecond, so that at least one follows after the reader has begun. */
const PROGRAM = `
  import { spawnSync } from "node:child_process";
  const { log } = await import(${JSON.stringify(LOG)});
  // Who shares the descriptor makes it block.
  const block = () => spawnSync("python3", ["-c", "import os; os.set_blocking(2, True)"], { stdio: ["ignore", "ignore", "inherit"] });
  for (let count = 0; count < 20_000; count++) {
    if (count % 10_000 === 100) block();
    log("info", "much", { text: "x".repeat(1000) });
  }
  process.send(process.stderr.writableLength);
  setInterval(() => log("info", "later"), 1);
`;

test("a reader of the log that does not read: the program goes on, keeps 1 MiB of it, and says how many lines were dropped", async () => {
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", PROGRAM], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const unread = await new Promise<number>((resolve) => child.once("message", (length) => resolve(Number(length))));
  expect(unread).toBeLessThan(1.1 * 1024 * 1024);
  let text = "";
  const count = await new Promise<number>((resolve) => {
    child.stderr!.on("data", (chunk) => {
      text += chunk;
      const found = /"event":"lines-dropped","count":(\d+)/.exec(text);
      if (found) resolve(Number(found[1]));
    });
  });
  const kept = text.match(/"event":"much"/g)?.length ?? 0;
  expect(kept + count).toBeGreaterThanOrEqual(20_000);
  expect(kept).toBeGreaterThan(500);
});
