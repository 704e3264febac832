/** Launches a shell script whose output goes into a log, says so, and waits to be killed. Arguments: STATEDIR ID ROOTFS CGROUP LOG SCRIPT. */
import { Executor } from "../../../src/executor/index.ts";

const [stateDir = "", id = "", rootfs = "", cgroupParent = "", path = "", script = ""] = process.argv.slice(2);
const executor = new Executor({ stateDir, id });
await executor.launch({ rootfs, cmd: "/bin/sh", args: ["-c", script], cgroupParent, stdio: { log: { path, maxBytes: 1_000_000_000 } } });
console.log("running");
setInterval(() => {}, 1000);
