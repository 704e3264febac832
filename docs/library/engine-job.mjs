// Run a task of two containers to its end: the second one begins when the first has succeeded.
// Usage, as root: node engine-job.mjs ROOTFS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Engine, TextWriter } from "@runt-project/runt/engine";

const [rootfs = "/srv/rootfs"] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "engine-"));
const engine = await Engine.open({ stateDir, cgroupParent: "/engine-job" });

const shell = (name, script, more = {}) => ({ name, rootfs, command: "/bin/sh", args: ["-c", script], ...more });
// YAML is as good: a file of tasks is text.
const [{ id }] = await engine.apply(
  JSON.stringify({
    name: "job",
    containers: [
      shell("prepare", "echo prepared", { essential: false }),
      shell("work", "echo worked; exit 3", { dependsOn: [{ container: "prepare", condition: "SUCCESS" }] }),
    ],
  }),
  "examples",
);
await until(() => engine.get(id, "examples").known === "STOPPED");
const { containers, reason } = engine.get(id, "examples");
for (const { name, exit } of containers) console.log(`${name}: ${exit.code}, ${(await printedBy(name)).trim()}`);
console.log(reason);

await engine.delete(id, "examples");
await until(() => engine.list().length === 0);
engine.close();
rmSync(stateDir, { recursive: true });

/** What a container has printed, without the times of its log. */
async function printedBy(container) {
  const text = new TextWriter({ hasTimes: false, prefix: "" });
  let printed = "";
  for await (const records of engine.logs(id, "examples", { container, follow: false, previous: false }))
    for (const record of records) printed += text.render(record);
  return printed;
}

/** Looks again after each transaction of the engine. */
function until(holds) {
  return new Promise((resolve) => {
    const look = () => holds() && (stop(), resolve());
    const stop = engine.onCommit(look);
    look();
  });
}
