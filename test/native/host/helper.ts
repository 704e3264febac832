import * as host from "../../../src/runtime/host/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

const REAL_TIME_MS = 10_000;

/** Start the helper and return how it was started. */
export function spawnLine(): string {
  const [ours, theirs] = host.socketpair();
  const pid = host.spawnHelper(["talk", String(theirs)], [theirs]);
  host.close(theirs);
  const line = host.receiveMessage(ours, REAL_TIME_MS)?.text ?? "nothing";
  host.close(ours);
  host.waitpid(pid, 0);
  return line;
}

/** The helper and nobody else is in the cgroup; on a host with v1 only there is nothing to try. */
function spawnInCgroup(): void {
  const line = host
    .readFile("/proc/self/mountinfo", undefined, true)
    .split("\n")
    .find((entry) => entry.includes(" - cgroup2 "));
  if (line === undefined) return;
  const directory = `${line.split(" ")[4]}/runt-host-test-${host.getpid()}`;
  host.mkdir(directory, 0o755);
  const fd = host.open(directory, host.O.PATH | host.O.DIRECTORY);
  try {
    const pid = host.spawnHelper(["hang"], [], fd);
    equal(host.readFile(`${directory}/cgroup.procs`, undefined, true), `${pid}\n`);
    host.kill(pid, host.signalNumber("KILL"));
    equal(host.waitpid(pid, 0), { pid, status: 137 });
  } finally {
    host.close(fd);
    host.rmdir(directory);
  }
}

export const helperTests: readonly Test[] = [
  [
    "spawnHelper and messages",
    () => {
      const [ours, theirs] = host.socketpair();
      const pid = host.spawnHelper(["talk", String(theirs)], [theirs]);
      host.close(theirs);
      const first = host.receiveMessage(ours, REAL_TIME_MS);
      equal([first?.type, first?.op, first?.errno, first?.value, first?.path, first?.fds], [1, 42, 13, pid, "", []]);
      equal(first?.text, "fds=4 death=9 blocked=0 pipe=default write=26 exe=/memfd:runt-init (deleted)");
      host.sendMessage(ours, 2);
      const second = host.receiveMessage(ours, REAL_TIME_MS);
      equal([second?.type, second?.value, second?.path, second?.text, second?.fds.length], [7, -5, "/dev/pts/0", "tty", 1]);
      const [fd = -1] = second?.fds ?? [];
      equal(host.receiveMessage(ours, REAL_TIME_MS), undefined);
      equal(host.readFd(fd), "through a pipe");
      equal(host.waitpid(pid, 0), { pid, status: 7 });
      host.close(fd);
      host.close(ours);
    },
  ],
  ["spawnHelper with a closed descriptor", () => throws("EBADF", () => host.spawnHelper(["talk", "200"], [200]))],
  [
    "pidfd",
    () => {
      const pid = host.spawnHelper(["hang"], []);
      const pidfd = host.pidfdOpen(pid);
      equal(host.waitpid(pid, host.WAIT.NOHANG), undefined);
      equal(host.poll([pidfd], [host.POLL.IN], 0), [0]);
      host.pidfdSendSignal(pidfd, host.signalNumber("KILL"));
      equal(host.poll([pidfd], [host.POLL.IN], REAL_TIME_MS), [host.POLL.IN]);
      equal(host.procStat(pid)?.state, "Z");
      equal(host.waitpid(pid, 0)?.status, 137);
      equal(host.procStat(pid), undefined);
      host.close(pidfd);
      throws("ESRCH", () => host.pidfdOpen(pid));
    },
  ],
  ["spawnHelper inside a cgroup", spawnInCgroup],
  [
    "no descriptor is left open",
    () => {
      const open = host.readdir("/proc/self/fd").length;
      spawnLine();
      ok(host.readdir("/proc/self/fd").length === open, "descriptors leak");
    },
  ],
];
