/** What every benchmark needs: a private mount namespace with hugetlb for crun, parent cgroups, bundles. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join, resolve } from "node:path";

export const REPOSITORY = resolve(import.meta.dirname, "..");
export const CGROUP = "runt-bench";

/**
 * A copy of bin/runt, as an installation makes it. How much of a file the kernel maps at once, and so the resident size,
 * depends on how its pages came into the page cache: right behind the linker it is half as much again.
 */
export function installedRunt(work: string): string {
  const target = join(work, "runt");
  copyFileSync(process.env["RUNT"] ?? join(REPOSITORY, "bin/runt"), target);
  return target;
}

/** The fields that benchmarks change. */
export interface Spec {
  process: { args: readonly string[]; terminal: boolean };
  root: { path: string };
  linux: { cgroupsPath: string; resources: Record<string, unknown>; seccomp?: object };
}

/** Run this very program again with --inside, in the namespace. Returns its status. */
export function reExecInNamespace(): number {
  const setup =
    'if grep -q hugetlb /proc/cgroups && ! grep -q hugetlb /proc/self/mountinfo && [ "$(stat -fc %T /sys/fs/cgroup)" = tmpfs ]; then ' +
    "mkdir -p /sys/fs/cgroup/hugetlb && mount -t cgroup -o hugetlb cgroup /sys/fs/cgroup/hugetlb; fi; " +
    '"$@"; status=$?; umount /sys/fs/cgroup/hugetlb 2>/dev/null; exit $status';
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1), "--inside"];
  const made = !existsSync("/sys/fs/cgroup/hugetlb");
  try {
    return spawnSync("unshare", ["-m", "sh", "-c", setup, "sh", ...self], { stdio: "inherit" }).status ?? 1;
  } finally {
    if (made && existsSync("/sys/fs/cgroup/hugetlb")) rmdirSync("/sys/fs/cgroup/hugetlb");
  }
}

/** Both runtimes find the parent level in place, so that neither pays for making it. */
export function makeCgroupParents(): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(" ")[4] ?? "");
  const directories = mounts.map((mountpoint) => join(mountpoint, CGROUP));
  for (const directory of directories) mkdirSync(directory, { recursive: true });
  return directories;
}

/** The example bundle of `runc spec`, without a terminal. */
export function makeBundle(
  work: string,
  name: string,
  args: readonly string[],
  cgroupsPath: string,
  change: (spec: Spec) => void = () => {},
  template?: string,
): string {
  const bundle = join(work, name);
  mkdirSync(bundle);
  if (template) copyFileSync(template, join(bundle, "config.json"));
  else execFileSync("runc", ["spec"], { cwd: bundle });
  const file = join(bundle, "config.json");
  const spec: Spec = JSON.parse(readFileSync(file, "utf8"));
  spec.process.args = args;
  spec.process.terminal = false;
  spec.root.path = join(work, "rootfs");
  spec.linux.cgroupsPath = cgroupsPath;
  change(spec);
  writeFileSync(file, JSON.stringify(spec));
  return bundle;
}

/**
 * Background load: cgroups are made, entered and removed as fast as one shell can. Returns how to end it.
 * Entering through cgroup.procs is what makes other runtimes wait for the kernel's grace periods.
 */
export function churn(): () => void {
  const script =
    `cd /sys/fs/cgroup; while :; do for h in */${CGROUP}; do mkdir $h/churn 2>/dev/null; echo $$ >$h/churn/cgroup.procs; ` +
    `echo $$ >$h/cgroup.procs; rmdir $h/churn; done; done 2>/dev/null`;
  const child = spawn("sh", ["-c", script], { stdio: "ignore" });
  return () => {
    child.kill("SIGKILL");
    // The shell may have been inside; its cgroups can go once it is gone.
    execFileSync("sh", [
      "-c",
      `while kill -0 ${child.pid} 2>/dev/null && ! grep -q '^State:.Z' /proc/${child.pid}/status; do sleep 0.01; done`,
    ]);
    execFileSync("sh", ["-c", `for d in /sys/fs/cgroup/*/${CGROUP}/churn; do [ ! -d $d ] || rmdir $d; done`]);
  };
}

/** What the figures depend on, in one line. */
export function machine(): string {
  const cpu = /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "unknown processor";
  const load = readFileSync("/proc/loadavg", "utf8").split(" ").slice(0, 3).join(" ");
  return `${cpus().length} x ${cpu}, Linux ${release()}, load ${load}`;
}
