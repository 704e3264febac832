/**
 * A private mount namespace for the whole run: what a test mounts does not reach the host, and the v1 controllers that the host has not
 * mounted get their hierarchies (crun refuses a host without hugetlb's).
 */
import { spawn } from "node:child_process";

/** crun gives what it takes for its stdio to the user of the container: not the machine's /dev/null. */
const OWN_NULL = `own=$(mktemp -d) && mount -t tmpfs -o mode=755 tmpfs "$own" && mknod -m 666 "$own/null" c 1 3 &&
mount --bind "$own/null" /dev/null && umount -l "$own" && rmdir "$own"`;

/** v1: the hierarchies go to a directory of this namespace's own, where more of them can be mounted without leaving a trace on the host. */
const ALL_HIERARCHIES = `if [ "$(stat -fc %T /sys/fs/cgroup)" = tmpfs ]; then
  new=$(mktemp -d) && mount -t tmpfs -o mode=755 tmpfs "$new" || exit 1
  for old in /sys/fs/cgroup/*; do
    name=$(basename "$old")
    if [ -L "$old" ]; then cp -P "$old" "$new/$name"
    elif mountpoint -q "$old"; then mkdir "$new/$name" && mount --move "$old" "$new/$name"; fi
  done
  for name in hugetlb net_cls net_prio; do
    grep -q "^$name" /proc/cgroups && ! grep -q " - cgroup [^ ]* [^ ]*$name" /proc/self/mountinfo || continue
    mkdir "$new/$name" && mount -t cgroup -o "$name" cgroup "$new/$name"
  done
  mount --move "$new" /sys/fs/cgroup && rmdir "$new"
fi`;

/** Run this very program again inside, with one more argument. Resolves with its status. */
export async function reExec(flag: string): Promise<number> {
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1), flag];
  const script = `${ALL_HIERARCHIES}\n${OWN_NULL}\nexec "$@"`;
  const child = spawn("unshare", ["--mount", "--propagation", "private", "sh", "-c", script, "sh", ...self], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill("SIGTERM"));
  return await new Promise<number>((done) => child.on("exit", (status) => done(status ?? 1)));
}
