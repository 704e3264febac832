import { expect, test } from "vitest";
import { joined } from "../engines/timeline/joined.ts";
import { callsOf, executed, segments, verbOf } from "../engines/timeline/segments.ts";

const PATH = "/var/tmp/e/bin/runt";
/** A shim that calls create and start, and the container's program; one process is there from before. */
const TRACE = `# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
      containerd-7       [000] .....   10.000100: sched_process_exec: filename=/usr/bin/containerd-shim pid=20 old_pid=20
          a - b-20      [001] d..1.   10.001000: sched_process_exec: filename=${PATH} pid=30 old_pid=30
            runt-30      [001] d..1.   10.001500: sched_process_exec: filename=${PATH}.real pid=30 old_pid=30
            runt-31      [001] d..1.   10.002000: sched_process_exec: filename=/dev/fd/5 pid=31 old_pid=31
            runt-30      [001] d..1.   10.003000: sched_process_exec: filename=/proc/self/exe pid=30 old_pid=30
            runt-30      [000] d..1.   10.006500: sched_process_exit: comm=runt pid=30 prio=120 group_dead=true
            shim-20      [000] d..1.   10.007000: sched_process_exec: filename=${PATH} pid=32 old_pid=32
            runt-32      [000] d..1.   10.007400: sched_process_exec: filename=${PATH}.real pid=32 old_pid=32
              sh-31      [001] d..1.   10.008000: sched_process_exec: filename=/bin/sleep pid=31 old_pid=31
            runt-32      [000] d..1.   10.008400: sched_process_exit: comm=runt pid=32 prio=120 group_dead=true
`;
const LOG = "10001100 --root /run/r --log /b/log.json create --bundle /b c\n10007100 --root /run/r start c\n";

const processes = executed(TRACE);
const calls = callsOf(processes, LOG, PATH);

test("a call lasts from the runtime's own start to its end, over programs that it executes instead of itself", () => {
  expect(calls.map(({ words, begin, end }) => [verbOf(words), begin, end])).toEqual([
    ["create", 10_001_500, 10_006_500],
    ["start", 10_007_400, 10_008_400],
  ]);
});

test("a process is each program that it executes; it may outlive the trace", () => {
  expect(processes.filter(({ pid }) => pid === 31)).toEqual([
    { pid: 31, program: "/dev/fd/5", begin: 10_002_000, end: 10_008_000 },
    { pid: 31, program: "/bin/sleep", begin: 10_008_000, end: Number.POSITIVE_INFINITY },
  ]);
});

test("segments leave nothing out and overlap nowhere, and name what began in them", () => {
  expect(segments(processes, calls, 10_000_000, 10_009_000)).toEqual([
    { verb: "", begin: 10_000_000, end: 10_001_500, programs: ["containerd-shim"] },
    { verb: "create", begin: 10_001_500, end: 10_006_500, programs: ["5"] },
    { verb: "", begin: 10_006_500, end: 10_007_400, programs: [] },
    { verb: "start", begin: 10_007_400, end: 10_008_400, programs: ["sleep"] },
    { verb: "", begin: 10_008_400, end: 10_009_000, programs: [] },
  ]);
});

test("what is waited for may come before the last call has ended", () => {
  expect(segments(processes, calls, 10_000_000, 10_008_000).at(-1)).toMatchObject({ verb: "start", end: 10_008_000 });
});

test("the verb of a command line", () => {
  expect(verbOf(["--systemd-cgroup", "--root", "create", "delete", "--force", "c"])).toBe("delete");
  expect(verbOf(["--version"])).toBe("--version");
});

test("runt's own events get the number that the kernel has for its process", () => {
  const own = JSON.stringify({ traceEvents: [{ name: "create", ph: "X", pid: 4, tid: 4, ts: 10_001_600, dur: 4000 }] });
  const { traceEvents } = JSON.parse(joined({ begin: 10_000_000, until: 10_009_000, processes, calls }, [own, undefined]));
  expect(traceEvents.find(({ name }: { name: string }) => name === "create")).toMatchObject({ pid: 30, ts: 10_001_600 });
  expect(traceEvents.find(({ name }: { name: string }) => name === "the start")).toMatchObject({ dur: 9000 });
});
