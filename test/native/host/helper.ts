import * as host from "../../../src/host/index.ts";
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
  [
    "no descriptor is left open",
    () => {
      const open = host.readdir("/proc/self/fd").length;
      spawnLine();
      ok(host.readdir("/proc/self/fd").length === open, "descriptors leak");
    },
  ],
];
