// A health check that hangs: the deadline ends it with everything it has started, and keeps what it has said.
// Usage, as root: node exec-deadline.mjs ROOTFS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Executor } from "@runt-project/runt";

const [rootfs = "/srv/rootfs"] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "executors-"));

const executor = new Executor({ stateDir, id: "service" });
await executor.launch({ rootfs, cmd: "sleep", args: ["1000"] });

const good = await executor.exec({ cmd: "sh", args: ["-c", "echo fine"], deadlineMs: 5000 });
console.log(`first check: ${good.exitCode}, ${good.output.toString().trim()}`);

const hanging = await executor.exec({ cmd: "sh", args: ["-c", "echo asking the database; sleep 1000 & sleep 1000"], deadlineMs: 500 });
console.log(`second check: timed out ${hanging.timedOut}, it had said: ${hanging.output.toString().trim()}`);

const { processes } = await executor.stats();
console.log(`left in the container: ${processes.map(({ command }) => command).join(", ")}`);
const { endedBy } = await executor.shutdown({ signal: "SIGTERM", graceMs: 200 });
console.log(`ended by ${endedBy}`);
executor.remove();
rmSync(stateDir, { recursive: true });
