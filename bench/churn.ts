/** Background load: cgroups are made, entered and removed as fast as one shell can. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/**
 * Beside a benchmark of real-time priority. Not with that priority itself: it would keep a processor to itself, which nobody could take from it. Its
 * nice value lets it run wherever the benchmark does not.
 */
const BESIDE_REALTIME = ["chrt", "--other", "0", "nice", "-n", "-20"];

/**
 * Below the cgroups of this name. Returns how to end it. Entering through cgroup.procs is what makes other runtimes wait for the kernel's grace
 * periods.
 */
export function churn(cgroup: string, isRealtime: boolean): () => void {
  const script =
    `cd /sys/fs/cgroup; while :; do for h in ${cgroup} */${cgroup}; do [ -d $h ] || continue; mkdir $h/churn 2>/dev/null; ` +
    `echo $$ >$h/churn/cgroup.procs; echo $$ >$h/cgroup.procs; rmdir $h/churn; done; done 2>/dev/null`;
  const [file = "", ...args] = [...(isRealtime ? BESIDE_REALTIME : []), "sh", "-c", script];
  const child = spawn(file, args, { stdio: "ignore" });
  return () => {
    child.kill("SIGKILL");
    // It may be inside of one of the cgroups, which can go once it is gone.
    const status = `/proc/${child.pid}/status`;
    while (existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, "utf8"))) {}
  };
}
