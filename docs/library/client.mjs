// Asks a running runtd (docs/library/client.md): applies a task, runs a program in it, reads its log and its events, and removes it.
// Usage: node client.mjs ROOTFS (RUNTD_SOCKET names another socket than that of the host's daemon)
import { ClientError, connect } from "@runt-project/runt/client";

const [rootfs] = process.argv.slice(2);
const engine = connect();
const { lastSequence } = await engine.node.get();
const task = {
  name: "greeter",
  containers: [{ name: "main", rootfs, command: "/bin/sh", args: ["-c", "echo hello; exec sleep 1000"], stopSignal: "SIGKILL" }],
};
await engine.files.apply({ text: JSON.stringify(task) });

for await (const { event } of engine.events.follow({ after: lastSequence }, { signal: AbortSignal.timeout(60_000) })) {
  if (event?.type !== "container" || event.name !== "greeter") continue;
  console.log(`${event.container} ${event.known}`);
  if (event.known === "RUNNING") break;
}

for await (const { stream, bytes } of engine.tasks.logs({ name: "greeter", follow: true })) {
  console.log(`${stream}: ${bytes}`);
  break;
}

const sort = await engine.tasks.exec({ name: "greeter", command: ["sort"], stdin: true });
sort.stdin.end("pear\napple\n");
const { exitCode, stdout } = await sort.output();
console.log(`sort ended with ${exitCode}: ${String(stdout).trim().replaceAll("\n", ", ")}`);

await engine.tasks.delete({ name: "greeter" });
try {
  await engine.tasks.get({ name: "nobody" });
} catch (error) {
  if (!(error instanceof ClientError)) throw error;
  console.log(`${error.code} (${error.status}): ${error.message}`);
}
