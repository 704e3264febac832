// Close an engine while a task runs, open another one on the same directory, and go on with its events where the first one ended.
// Usage, as root: node engine-restart.mjs ROOTFS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Engine } from "@runt-project/runt/engine";

const [rootfs = "/srv/rootfs"] = process.argv.slice(2);
const settings = { stateDir: mkdtempSync(join(tmpdir(), "engine-")), cgroupParent: "/engine-restart" };
const file = JSON.stringify({
  name: "service",
  containers: [{ name: "main", rootfs, command: "/bin/sh", args: ["-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"] }],
});

const first = await Engine.open(settings);
const [{ id }] = await first.apply(file, "examples");
const seen = await told(first, 0, ({ type, known }) => type === "task" && known === "RUNNING");
first.close();
console.log("the first engine is closed; its container goes on");

const second = await Engine.open(settings);
const [{ change }] = await second.apply(file, "examples");
console.log(`the second one finds it ${second.get(id, "examples").known}, and the file ${change}`);
await second.delete(id, "examples");
await told(second, seen, ({ type }) => type === "removed");
second.close();
rmSync(settings.stateDir, { recursive: true });

/** Prints what happens to containers, until an event is the one that is waited for. Returns its sequence number. */
function told(engine, after, isLast) {
  return new Promise((resolve) => {
    let last = after;
    const look = () => {
      for (const { sequence, content } of engine.events(last, 100).entries) {
        const event = JSON.parse(content);
        last = sequence;
        if (event.type === "container") console.log(`${event.container}: ${event.known}`);
        if (isLast(event)) return stop(), resolve(sequence);
      }
    };
    const stop = engine.onCommit(look);
    look();
  });
}
