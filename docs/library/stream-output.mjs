// Talk to a program: its stdin, its stdout line by line, its stderr apart.
// Usage, as root: node stream-output.mjs ROOTFS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Executor } from "@runt-project/runt";

const [rootfs = "/srv/rootfs"] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "executors-"));

const executor = new Executor({ stateDir, id: "talker" });
await executor.launch({
  rootfs,
  cmd: "sh",
  args: ["-c", "while read name; do echo hello, $name; done; echo nobody left >&2"],
  stdio: { stdin: "pipe", stdout: "pipe", stderr: "pipe" },
});
executor.stderr.on("data", (text) => process.stdout.write(`stderr: ${text}`));
executor.stdin.end("world\nruntime\n");
for await (const line of createInterface({ input: executor.stdout })) console.log(`stdout: ${line}`);

const { exitCode } = await executor.wait();
console.log(`ended with ${exitCode}`);
executor.remove();
rmSync(stateDir, { recursive: true });
