/** Self-test of the C host module: runs inside the engine, as root. `main.ts [spawn|overwrite|exec|hang|reject]`. */
import "../../../src/runtime/cli/polyfill.ts";
import * as host from "../../../src/runtime/host/index.ts";
import { bytesTests } from "./bytes.ts";
import { compactTests } from "./compact.ts";
import { containerTests } from "./containers.ts";
import { engineTests } from "./engine.ts";
import { fileTests } from "./files.ts";
import { run, summary } from "./harness.ts";
import { helperTests, spawnLine } from "./helper.ts";
import { inrootTests } from "./inroot.ts";
import { memberTests } from "./members.ts";
import { netlinkTests } from "./netlink.ts";
import { notifyTests } from "./notify.ts";
import { processTests } from "./processes.ts";
import { seccompTests } from "./seccomp.ts";
import { streamTests } from "./streams.ts";

const [, mode = "all"] = host.argv();

// What the caller left open would be counted by the helper.
for (const name of host.readdir("/proc/self/fd")) if (Number(name) > 2 && host.fdIsOpen(Number(name))) host.close(Number(name));

switch (mode) {
  case "spawn":
    // How the helper was started, in one line: for the runs where calls are refused.
    host.write(1, `${spawnLine()}\n`);
    host.exit(0);
    break;
  case "overwrite":
    host.waitpid(host.spawnHelper(["overwrite"], []), 0);
    break;
  case "exec":
    host.blockSignals();
    host.execHelper(["monitor"], []);
    break;
  case "hang":
    host.write(1, `${host.spawnHelper(["hang"], [])}\n`);
    host.sleep(60_000);
    break;
  case "reject":
    await Promise.reject(new Error("nobody\ncatches this"));
    break;
  default:
    for (const tests of [
      engineTests,
      bytesTests,
      fileTests,
      memberTests,
      containerTests,
      inrootTests,
      processTests,
      netlinkTests,
      notifyTests,
      helperTests,
      seccompTests,
      compactTests,
      streamTests,
    ]) {
      for (const [name, test] of tests) run(name, test);
    }
    host.exit(summary());
}
