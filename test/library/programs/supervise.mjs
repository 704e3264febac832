// A supervisor that is killed at some moment: STATEDIR ID ROOTFS CGROUP_PARENT CODE MILLISECONDS. Of the built library, which starts faster.
import { Executor } from "../../../dist/executor/index.js";

const [stateDir, id, rootfs, cgroupParent, code, milliseconds] = process.argv.slice(2);
console.log("begin");
const executor = new Executor({ stateDir, id });
const args = ["-c", `echo out ${code}; sleep ${Number(milliseconds) / 1000}; exit ${code}`];
await executor.launch({ rootfs, cmd: "/bin/sh", args, cgroupParent, stdio: { stdout: "pipe" } });
console.log("launched");
await executor.wait();
await new Promise((resolve) => setTimeout(resolve, 10_000));
