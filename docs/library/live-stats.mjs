// Draw what a container uses, again and again.
// Usage, as root: node live-stats.mjs ROOTFS [SAMPLES]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Executor } from "runt";

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
for (let round = 0; round < Number(samples); round++) {
  await sleep(500);
  const { cpu, memory, pids, measured } = await executor.stats();
  if (process.stdout.isTTY && round > 0) process.stdout.write("\x1b[3A");
  console.log(`cpu    ${bar((cpu.percent?.total ?? 0) / 100)} ${(cpu.percent?.total ?? 0).toFixed(0)} %`);
  console.log(`memory ${bar(memory.usageBytes / memory.limitBytes)} ${(memory.usageBytes / 1024).toFixed(0)} KiB`);
  console.log(`pids   ${bar(pids.current / pids.limit)} ${pids.current} of ${pids.limit} (${measured.length} values measured)`);
}

await executor.shutdown({ graceMs: 0 });
executor.remove();
rmSync(stateDir, { recursive: true });
