/** A supervisor that creates, or creates and starts, and is then killed: STATEDIR ID ROOTFS CGROUP_PARENT create|start. */
import { Executor } from "../../../src/executor/index.ts";

const [stateDir = "", id = "", rootfs = "", cgroupParent = "", until] = process.argv.slice(2);
const executor = new Executor({ stateDir, id });
await executor.create({ rootfs, cmd: "/bin/sh", args: ["-c", "until [ -e /dev/go ]; do sleep 0.1; done; exit 7"], cgroupParent });
if (until === "start") await executor.start();
console.log("done");
await new Promise((resolve) => setTimeout(resolve, 1_000_000));
