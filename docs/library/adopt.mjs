// A supervisor is killed; the next one finds its container, and learns how it really ended.
// Usage, as root: node adopt.mjs ROOTFS
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Executor } from "@runt-project/runt";

const [rootfs = "/srv/rootfs", stateDir = mkdtempSync(join(tmpdir(), "executors-")), role = "second"] = process.argv.slice(2);
const id = "job";

if (role === "first") {
  const executor = new Executor({ stateDir, id });
  await executor.launch({ rootfs, cmd: "sh", args: ["-c", "sleep 1; echo the result; exit 42"], stdio: { stdout: "pipe" } });
  console.log("launched");
  await executor.wait();
} else {
  const first = spawn(process.execPath, [fileURLToPath(import.meta.url), rootfs, stateDir, "first"], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => first.stdout.once("data", resolve));
  first.kill("SIGKILL");
  console.log("the first supervisor is dead");

  const executor = await Executor.adopt({ stateDir, id });
  console.log(`adopted: ${executor.state}`);
  for await (const chunk of executor.stdout) process.stdout.write(`it printed: ${chunk}`);
  const { exitCode } = await executor.wait();
  console.log(`ended with ${exitCode}`);
  executor.remove();
  rmSync(stateDir, { recursive: true });
}
