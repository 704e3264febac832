// Further processes in a container: streams, a terminal, and a signal that ends what takes too long.
// Usage, as root: node spawn.mjs ROOTFS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Executor, ExecutorError, ProgramError } from "@runt-project/runt";

const [rootfs = "/srv/rootfs"] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "executors-"));

// With TypeScript, or Node 24: `await using executor = new Executor(...)`, and no finally.
const executor = new Executor({ stateDir, id: "service" });
try {
  await executor.launch({ rootfs, cmd: "sleep", args: ["1000"] });

  const sort = await executor.spawn({ cmd: "sort", stdio: { stdin: "pipe", stderr: process.stderr } });
  sort.stdin.end("pear\napple\n");
  for await (const chunk of sort.stdout) process.stdout.write(`sorted: ${String(chunk).trim().replace("\n", ", ")}\n`);
  console.log(`sort ended with ${(await sort.wait()).exitCode}`);

  const shell = await executor.spawn({ cmd: "sh", pty: { rows: 24, columns: 80 }, stdio: { stdin: "pipe" }, env: { PS1: "" } });
  shell.resize({ rows: 50, columns: 132 });
  shell.stdin.write("stty -echo; stty size; exit\n");
  let shown = "";
  for await (const chunk of shell.stdout) shown += chunk;
  console.log(`the terminal's size: ${/^\d+ \d+$/m.exec(shown)?.[0]}`);

  try {
    await executor.exec({ cmd: "sleep", args: ["1000"], signal: AbortSignal.timeout(200) });
  } catch (error) {
    if (!(error instanceof ExecutorError)) throw error;
    console.log(`sleep: ${error.code}`);
  }

  try {
    await executor.spawn({ cmd: "nowhere" });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    console.log(`nowhere: ${error.reason}`);
  }
} finally {
  await executor.shutdown({ graceMs: 0 });
  executor.remove();
  rmSync(stateDir, { recursive: true });
}
