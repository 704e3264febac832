// A supervisor that comes back: what there is in its state directory, and all of it adopted, though one entry is broken.
// Usage, as root: node adopt-all.mjs ROOTFS
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Executor } from "@runt-project/runt";

const [rootfs = "/srv/rootfs"] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "executors-"));

for (const id of ["build", "deploy"]) await new Executor({ stateDir, id }).launch({ rootfs, cmd: "sleep", args: ["1000"] });
mkdirSync(join(stateDir, "half-removed"));

for (const { id, state, error } of await Executor.list(stateDir)) console.log(`${id}: ${state}${error ? ` (${error.code})` : ""}`);

for (const { id, executor, error } of await Executor.adoptAll({ stateDir })) {
  if (error) {
    console.log(`${id}: not adopted, ${error.code}`);
    continue;
  }
  const { endedBy } = await executor.shutdown({ graceMs: 0 });
  console.log(`${id}: adopted, ended by ${endedBy}`);
  executor.remove();
}
rmSync(stateDir, { recursive: true });
