import * as host from "../../../src/runtime/host/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

export const processTests: readonly Test[] = [
  ["identity", () => ok(host.getpid() > 1 && host.getppid() > 0 && host.geteuid() === 0 && host.getegid() === 0, "not root?")],
  ["environment", () => equal([host.getenv("RUNT_TEST_VARIABLE"), host.getenv("RUNT_NO_SUCH")], ["väl=ue", undefined])],
  ["kernelRelease", () => ok(/^\d+\.\d+/.test(host.kernelRelease()), host.kernelRelease())],
  ["effectiveCapabilities", () => ok((host.effectiveCapabilities() & (1n << 21n)) !== 0n, "no CAP_SYS_ADMIN")],
  [
    "procStat",
    () => {
      const own = host.procStat(host.getpid());
      equal(own?.state, "R");
      equal(host.procStat(host.getpid())?.startTime, own?.startTime);
      equal(host.procStat(0x3f_ffff), undefined);
    },
  ],
  ["now", () => ok(host.now().seconds > 1.6e9 && host.now().nanoseconds < 1e9, "another time")],
  [
    "sleep",
    () => {
      const before = Date.now();
      host.sleep(20.5);
      const passed = Date.now() - before;
      ok(passed >= 19 && passed < 10_000, `${passed} ms`);
    },
  ],
  ["kill of no process", () => throws("ESRCH", () => host.kill(0x3f_ffff, 0))],
  // With signal 0 nobody is hurt where that is not refused.
  ...[0, -1, -host.getpid()].flatMap((pid): Test[] => [
    [`kill of ${pid < -1 ? "a group" : pid}`, () => throws("EINVAL", () => host.kill(pid, 0))],
    [`pidfd of ${pid < -1 ? "a group" : pid}`, () => throws("EINVAL", () => host.pidfdOpen(pid))],
    [`prlimit of ${pid < -1 ? "a group" : pid}`, () => throws("EINVAL", () => host.prlimit(pid, 4, 0n, 0n))],
  ]),
  ["waitpid without children", () => equal(host.waitpid(-1, host.WAIT.NOHANG), undefined)],
  [
    "prlimit",
    () => {
      host.prlimit(host.getpid(), 4, 0n, 0xffff_ffff_ffff_ffffn);
      ok(/Max core file size\s+0\s+unlimited/.test(host.readFile("/proc/self/limits")), "RLIMIT_CORE was not set");
    },
  ],
  [
    "setChildSubreaper",
    () => {
      host.setChildSubreaper(true);
      host.setChildSubreaper(false);
    },
  ],
  [
    "runProgram",
    () => {
      const script = 'read line; echo "out:$line:$A:$0"; echo err >&2; exit 3';
      const result = host.runProgram("/bin/sh", ["name", "-c", script], ["A=b c"], "in\nput", -1);
      equal(result, { status: 3, timedOut: false, stdout: "out:in:b c:name\n", stderr: "err\n" });
    },
  ],
  ["runProgram: long input that is not read", () => equal(host.runProgram("/bin/true", ["true"], [], "x".repeat(300_000), 5000).status, 0)],
  [
    "runProgram: long input and output",
    () => {
      const { status, stdout } = host.runProgram("/bin/cat", ["cat"], [], "y".repeat(1_000_000), 20_000);
      equal([status, stdout.length], [0, 65536]);
    },
  ],
  [
    "runProgram: time-out",
    () => {
      const before = Date.now();
      const result = host.runProgram("/bin/sleep", ["sleep", "20"], [], "", 100);
      equal([result.status, result.timedOut], [137, true]);
      ok(Date.now() - before < 15_000, "too late");
    },
  ],
  [
    "runProgram: a process left behind does not block",
    () => {
      const before = Date.now();
      const result = host.runProgram("/bin/sh", ["sh", "-c", "sleep 12 & echo done"], ["PATH=/bin"], "", -1);
      equal([result.status, result.stdout], [0, "done\n"]);
      ok(Date.now() - before < 10_000, "waited for the process that was left behind");
    },
  ],
  [
    "runProgram: this process's environment, a directory, a limit on the output",
    () => {
      const { stdout } = host.runProgram("/bin/sh", ["sh", "-c", "pwd; echo $PATH"], undefined, "", -1, undefined, "/usr/share");
      equal(stdout, `/usr/share\n${host.getenv("PATH")}\n`);
      equal(host.runProgram("/bin/echo", ["echo", "12345"], [], "", -1, 3).stdout, "123");
      throws("ENOENT", () => host.runProgram("/bin/true", ["true"], [], "", -1, undefined, "/absent"));
    },
  ],
  ["runProgram: killed by a signal", () => equal(host.runProgram("/bin/sh", ["sh", "-c", "kill -TERM $$"], [], "", -1).status, 143)],
  ["runProgram: no such program", () => throws("ENOENT", () => host.runProgram("/no/such", ["x"], [], "", -1))],
  ["runProgram: not executable", () => throws("EACCES", () => host.runProgram("/etc/passwd", ["x"], [], "", -1))],
  [
    "poll",
    () => {
      const [one, two] = host.socketpair();
      equal(host.poll([one], [host.POLL.IN], 5), [0]);
      host.sendMessage(two, 6);
      equal(host.poll([one, two], [host.POLL.IN, host.POLL.OUT], -1), [host.POLL.IN, host.POLL.OUT]);
      equal(host.receiveMessage(one, 0)?.type, 6);
      throws("ETIMEDOUT", () => host.receiveMessage(one, 5));
      host.close(two);
      equal(host.receiveMessage(one, -1), undefined);
      throws("EPIPE", () => host.sendMessage(one, 6));
      host.close(one);
    },
  ],
  [
    "messages told of in a page",
    () => {
      const { fd, page } = host.sharedPage("bell");
      const words = new Uint32Array(page);
      const [one, two] = host.socketpair();
      host.sendMessage(two, 6, undefined, page);
      equal([...words.slice(6, 10)], [0, 1, 0, 0]);
      // Both look, as if the other side had told of it; and go on when nothing comes.
      words[6] = 1;
      words[9] = 1;
      equal(host.receiveMessage(one, -1, page)?.type, 6);
      equal([...words.slice(6, 10)], [1, 1, 1, 1]);
      throws("ETIMEDOUT", () => host.receiveMessage(one, 0, page));
      for (const each of [fd, one, two]) host.close(each);
    },
  ],
  [
    "the last words of a peer that has not read ours",
    () => {
      const [one, two] = host.socketpair();
      host.sendMessage(one, 6);
      host.sendMessage(two, 7);
      host.close(two);
      equal(host.receiveMessage(one, -1)?.type, 7);
      equal(host.receiveMessage(one, -1), undefined);
      host.close(one);
    },
  ],
  [
    "broken messages",
    () => {
      const [one, two] = host.socketpair();
      host.write(two, "short");
      throws("EBADMSG", () => host.receiveMessage(one, -1));
      host.write(two, Uint32Array.of(1, 0, 0, 0, 5, 0, 0).buffer);
      throws("EBADMSG", () => host.receiveMessage(one, -1));
      host.write(two, Uint32Array.of(1, 0, 0, 0, 0xffff_ffff, 5, 0).buffer);
      throws("EBADMSG", () => host.receiveMessage(one, -1));
      host.close(one);
      host.close(two);
    },
  ],
  [
    "memfd",
    () => {
      const fd = host.memfd("plan", host.utf8Encode("content"));
      throws("EPERM", () => host.write(fd, "more"));
      equal(host.readFile(`/proc/self/fd/${fd}`), "content");
      host.close(fd);
    },
  ],
  [
    "device program",
    () => {
      // mov r0, 1; exit
      const code = Uint32Array.of(0xb7, 1, 0x95, 0).buffer;
      const program = host.bpfLoadDeviceProgram(code);
      ok(program > 2, "no descriptor");
      host.close(program);
      throws("EINVAL", () => host.bpfLoadDeviceProgram(Uint32Array.of(1).buffer));
      // exit without a value in r0: the verifier says so
      throws("EACCES", () => host.bpfLoadDeviceProgram(Uint32Array.of(0x95, 0).buffer));
    },
  ],
];
