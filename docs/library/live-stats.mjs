// Draw what a container uses, again and again.
// Usage, as root: node live-stats.mjs ROOTFS [SAMPLES]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Executor } from "@runt-project/runt";

const [rootfs = "/srv/rootfs", samples = "10"] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "executors-"));
const WIDTH = 40;

const executor = new Executor({ stateDir, id: "busy" });
await executor.launch({
  rootfs,
  cmd: "sh",
  args: ["-c", "while :; do :; done"],
  resources: { memoryBytes: 64 * 1024 * 1024, cpus: 0.25, pids: 10 },
});

const bar = (share) => "#".repeat(Math.round(Math.min(1, share) * WIDTH)).padEnd(WIDTH, ".");
let round = 0;
for await (const { cpu, memory, pids, measured } of executor.statsStream({ intervalMs: 500 })) {
  // The first value is since the launch.
  if (round++ === 0) continue;
  if (process.stdout.isTTY && round > 2) process.stdout.write("\x1b[3A");
  console.log(`cpu    ${bar((cpu.percent?.total ?? 0) / 100)} ${(cpu.percent?.total ?? 0).toFixed(0)} %`);
  console.log(`memory ${bar(memory.usageBytes / memory.limitBytes)} ${(memory.usageBytes / 1024).toFixed(0)} KiB`);
  console.log(`pids   ${bar(pids.current / pids.limit)} ${pids.current} of ${pids.limit} (${measured.length} values measured)`);
  if (round > Number(samples)) break;
}

await executor.shutdown({ graceMs: 0 });
executor.remove();
rmSync(stateDir, { recursive: true });
