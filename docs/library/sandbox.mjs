// Run code that nobody has read, in containers that were made before it came.
// Usage, as root: node sandbox.mjs ROOTFS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool, sandbox } from "@runt-project/runt";

const [rootfs = "/srv/rootfs"] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "pool-"));
const template = sandbox({ rootfs, memory: 64 * 1024 * 1024, disk: 8 * 1024 * 1024, pids: 16, seconds: 5 });
const pool = await Pool.open({ template, size: 2, stateDir });

const attempts = {
  "count to three": "for n in 1 2 3; do echo $n; done",
  "fork without end": "f() { f | f & }; f; sleep 100",
  "fill the disk": "dd if=/dev/zero of=/tmp/full bs=1M count=64 2>&1 | grep -o 'No space left'; cat /tmp/full | wc -c",
  "eat memory": "dd if=/dev/zero of=/dev/null bs=256M count=1",
  "print without end": "while :; do echo more and more; done",
  "read the host": "cat /proc/kcore /proc/keys; ls /root; echo nothing",
  "become root": "id -u; chown 0 /tmp 2>/dev/null || echo refused",
  "reach the network": "nc -w 1 192.0.2.1 80 </dev/null 2>&1",
};
for (const [name, script] of Object.entries(attempts)) {
  const { exitCode, endedBy, oomKills, stdout } = await pool.run({ cmd: "sh", args: ["-c", script] });
  const words = stdout.toString("utf8", 0, 60).trim().replaceAll("\n", " ");
  const end = endedBy === "itself" ? `ended with ${exitCode}` : `ended by its ${endedBy}`;
  console.log(`${name}: ${end}${oomKills > 0 ? ", killed for memory" : ""}: ${words}`);
}

await pool.close();
rmSync(stateDir, { recursive: true });
