/** Background load: cgroups are made, entered and removed as fast as one shell can. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Not at real-time priority, if that is the benchmark's: it would keep a processor to itself, which nobody could take from it. */
const ORDINARY = ["chrt", "--other", "0", "nice", "-n", "-20"];

/**
 * Below the cgroups of this name. Returns how to end it. Entering through cgroup.procs is what makes other runtimes wait for the kernel's grace
 * periods.
 */
export function churn(cgroup: string): () => void {
  const script =
    `cd /sys/fs/cgroup; while :; do for h in ${cgroup} */${cgroup}; do [ -d $h ] || continue; mkdir $h/churn 2>/dev/null; ` +
    `echo $$ >$h/churn/cgroup.procs; echo $$ >$h/cgroup.procs; rmdir $h/churn; done; done 2>/dev/null`;
  const [file = "", ...args] = [...ORDINARY, "sh", "-c", script];
  const child = spawn(file, args, { stdio: "ignore" });
  return () => {
    child.kill("SIGKILL");
    // It may be inside of one of the cgroups, which can go once it is gone.
    const status = `/proc/${child.pid}/status`;
    while (existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, "utf8"))) {}
  };
}
