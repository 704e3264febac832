// Run a command with limits and get the truth about its end.
// Usage, as root: node run-with-limits.mjs ROOTFS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Executor } from "@runt-project/runt";

const [rootfs = "/srv/rootfs"] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "executors-"));

const executor = new Executor({ stateDir, id: "limited" });
await executor.launch({
  rootfs,
  cmd: "dd",
  args: ["if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"],
  user: "1000:1000",
  resources: { memoryBytes: 32 * 1024 * 1024, cpus: 0.5, pids: 16 },
});
const { exitCode, oomKilled } = await executor.wait();
console.log(oomKilled ? `killed for memory (${exitCode})` : `ended with ${exitCode}`);

executor.remove();
rmSync(stateDir, { recursive: true });
