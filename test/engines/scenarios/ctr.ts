/** What `ctr` is asked to do. */
import { IMAGE } from "../engine.ts";
import { engine, host, type Scenario, update } from "../scenario.ts";

const SECOND = 1000;
const SLEEP = ["sleep", "60"];
const TRAP = ["sh", "-c", "trap 'exit 3' TERM; while :; do sleep 0.1; done"];
const MEGABYTE = 1024 * 1024;

const detached = (...command: string[]) => engine(["run", "-d", IMAGE, "{id}", ...(command.length === 0 ? SLEEP : command)]);
const until = (status: RegExp) => engine(["task", "list"], { stdout: status }, { within: 5 * SECOND });
const line = (status: string) => new RegExp(`^t\\d+-\\d+ .* ${status}`, "m");

export const scenarios: readonly Scenario[] = [
  {
    name: "run",
    steps: [
      engine(["run", "--rm", IMAGE, "{id}", "echo", "hello"], { stdout: /^hello$/m }),
      host("test ! -d {cgroup:memory} && test ! -e /run/containerd/runc/*/{id}"),
    ],
  },
  { name: "run: status of the program", steps: [engine(["run", "--rm", IMAGE, "{id}", "sh", "-c", "exit 7"], { status: 7 })] },
  {
    name: "run: stdin",
    // ctr does not pass the end of its own stdin on.
    steps: [
      engine(["run", "--rm", IMAGE, "{id}", "sh", "-c", "read word; echo got $word"], { stdout: /^got hello$/m }, { input: "hello\n" }),
    ],
  },
  {
    name: "run -t",
    steps: [engine(["run", "--rm", "-t", IMAGE, "{id}", "tty"], { stdout: /\/dev\/pts\/0\r?$/m }, { tty: true })],
  },
  {
    name: "run: env, cwd, read-only, mount",
    steps: [
      host("echo text > {dir}/file"),
      engine(
        [
          ...["run", "--rm", "--env", "A=b", "--cwd", "/tmp", "--read-only"],
          ...["--mount", "type=bind,src={dir},dst=/mnt,options=rbind:ro", IMAGE, "{id}"],
          ...["sh", "-c", "echo $A $PWD; cat /mnt/file; touch /mnt/x; touch /x; true"],
        ],
        { stdout: [/^b \/tmp$/m, /^text$/m], output: [/\/mnt\/x: Read-only/, /touch: \/x: Read-only/] },
      ),
    ],
  },
  {
    name: "run: capabilities",
    steps: [
      engine(["run", "--rm", "--cap-drop", "CAP_CHOWN", "--cap-add", "CAP_SYS_ADMIN", IMAGE, "{id}", "grep", "CapEff", "/proc/1/status"], {
        stdout: /CapEff:\s+00000000a82425fa/,
      }),
    ],
  },
  {
    name: "run: user namespace",
    notInMachines: "ctr loses the runtime's name there, and with it the machine",
    steps: [
      engine(["run", "--rm", "--uidmap", "0:100000:1000", "--gidmap", "0:100000:1000", IMAGE, "{id}", "cat", "/proc/self/uid_map"], {
        stdout: /^\s+0\s+100000\s+1000$/m,
      }),
    ],
  },
  {
    name: "run: joined network namespace",
    steps: [
      host("ip netns add {id}"),
      engine(["run", "--rm", "--with-ns", "network:/run/netns/{id}", IMAGE, "{id}", "readlink", "/proc/self/ns/net"], {
        stdout: /^net:/m,
      }),
      host("ip netns delete {id}"),
    ],
  },
  {
    name: "run: seccomp",
    steps: [engine(["run", "--rm", "--seccomp", IMAGE, "{id}", "grep", "Seccomp:", "/proc/1/status"], { stdout: /Seccomp:\s+2/ })],
  },
  {
    name: "run: limits",
    notInMachines: "the limits are the guest's, and the host's cgroup has those of the machine",
    steps: [
      engine(["run", "-d", "--memory-limit", String(32 * MEGABYTE), "--cpus", "0.5", "--cpu-shares", "512", IMAGE, "{id}", ...SLEEP]),
      host("cat {cgroup:memory}/memory.limit_in_bytes {cgroup:cpu}/cpu.cfs_quota_us {cgroup:cpu}/cpu.shares", {
        stdout: /^33554432\n50000\n512\n$/,
      }),
    ],
  },
  {
    name: "run: hook",
    steps: [
      // ctr has no option for hooks; a configuration of its own may name them.
      host(
        `busybox=/usr/bin/busybox; mkdir -p {dir}/root/bin {dir}/root/proc && cp /bin/busybox {dir}/root/bin/ && cat > {dir}/config.json <<'END'
{"ociVersion":"1.0.2","root":{"path":"{dir}/root"},"process":{"cwd":"/","args":["/bin/busybox","echo","hello"],"env":["PATH=/bin"],"user":{"uid":0,"gid":0}},
"mounts":[{"destination":"/proc","type":"proc","source":"proc"}],
"hooks":{"createRuntime":[{"path":"/bin/sh","args":["sh","-c","cat > {dir}/state"]}]},
"linux":{"cgroupsPath":"/{cgroup-parent}/{id}","namespaces":[{"type":"pid"},{"type":"mount"},{"type":"ipc"},{"type":"uts"},{"type":"network"}]}}
END`,
      ),
      engine(["run", "--rm", "--config", "{dir}/config.json", "{id}"], { stdout: /^hello$/m }),
      host("cat {dir}/state", { stdout: [/"id":\s*"t\d/, /"status":\s*"creat/] }),
    ],
  },
  {
    name: "detached",
    steps: [detached(), engine(["task", "list"], { stdout: line("RUNNING") }), engine(["task", "ps", "{id}"], { stdout: /^\d+\s+-/m })],
  },
  {
    name: "exec",
    steps: [
      detached(),
      engine(["task", "exec", "--exec-id", "e1", "{id}", "echo", "hello"], { stdout: /^hello$/m }),
      engine(["task", "exec", "--exec-id", "e2", "{id}", "sh", "-c", "exit 5"], { status: 5 }),
      engine(["task", "exec", "--exec-id", "e3", "--cwd", "/tmp", "--user", "user", "{id}", "sh", "-c", "pwd; id -u"], {
        stdout: /^\/tmp\n1000$/m,
      }),
      engine(["task", "exec", "--exec-id", "e4", "{id}", "no-such-program"], {
        status: "not-zero",
        output: /executable file not found in \$PATH/,
      }),
    ],
  },
  {
    name: "exec -t",
    steps: [
      detached(),
      engine(["task", "exec", "--exec-id", "e1", "-t", "{id}", "tty"], { stdout: /\/dev\/pts\/\d+\r?$/m }, { tty: true }),
    ],
  },
  {
    name: "exec -d",
    steps: [
      detached(),
      engine(["task", "exec", "--exec-id", "e1", "-d", "{id}", ...SLEEP]),
      engine(["task", "ps", "{id}"], { stdout: /^\d+\s+-\n\d+\s+/m }),
    ],
  },
  {
    name: "kill 15",
    notInMachines:
      "start returns before the shell in the guest has set its trap, and the first process of a namespace does not see what it does not catch",
    steps: [
      detached(...TRAP),
      engine(["task", "kill", "{id}"], {}, {}),
      until(line("STOPPED")),
      engine(["task", "delete", "{id}"], { output: /exit code 3\b/ }),
    ],
  },
  {
    name: "kill 9",
    steps: [
      detached(),
      engine(["task", "kill", "-s", "9", "{id}"]),
      until(line("STOPPED")),
      engine(["task", "kill", "-s", "9", "{id}"], { status: "not-zero", output: /not found|process already finished/ }),
      engine(["task", "delete", "{id}"], { output: /exit code 137\b/ }),
    ],
  },
  {
    name: "kill --all",
    steps: [
      detached("sh", "-c", "sleep 61 & sleep 62 & wait"),
      engine(["task", "kill", "--all", "-s", "9", "{id}"]),
      until(line("STOPPED")),
      host("cat {cgroup:memory}/cgroup.procs", { stdout: /^$/ }),
    ],
  },
  {
    name: "pause and resume",
    steps: [
      detached(),
      engine(["task", "pause", "{id}"]),
      engine(["task", "list"], { stdout: line("PAUSED") }),
      host("cat {cgroup:freezer}/freezer.state", { stdout: /FROZEN/ }),
      engine(["task", "resume", "{id}"]),
      engine(["task", "list"], { stdout: line("RUNNING") }),
    ],
  },
  {
    name: "ps",
    steps: [
      detached("sh", "-c", "sleep 61 & sleep 62 & wait"),
      engine(["task", "ps", "{id}"], { stdout: /^(\d+\s+-\n){3}/m }, { within: 2 * SECOND }),
    ],
  },
  {
    name: "metrics",
    notInMachines: "containerd reads the host's cgroup: the processes are those of the machine",
    steps: [
      detached(),
      engine(["task", "metrics", "{id}"], { stdout: [/memory\.usage_in_bytes\s+[1-9]/, /cpuacct\.usage/, /pids\.current\s+1/] }),
    ],
  },
  {
    name: "update",
    notInMachines: "the limits are the guest's",
    steps: [
      detached(),
      update({ memory: { limit: 64 * MEGABYTE }, cpu: { shares: 256, quota: 25000, period: 100000 }, pids: { limit: 17 } }),
      host("cat {cgroup:memory}/memory.limit_in_bytes {cgroup:cpu}/cpu.shares {cgroup:cpu}/cpu.cfs_quota_us {cgroup:pids}/pids.max", {
        stdout: /^67108864\n256\n25000\n17\n$/,
      }),
    ],
  },
  {
    name: "delete",
    steps: [
      detached(),
      engine(["task", "delete", "{id}"], { status: "not-zero", output: /must be stopped|running/ }),
      engine(["task", "delete", "--force", "{id}"], { status: "any" }),
      engine(["container", "delete", "{id}"]),
      host("test ! -d {cgroup:memory} && test ! -e /run/containerd/runc/*/{id}"),
    ],
  },
  {
    // What is left to do for the shim's `delete`: containerd runs it once the shim has gone, and reads no status of the runtime's.
    name: "shim killed",
    steps: [
      detached(),
      host(
        `init=$(head -n 1 {cgroup:memory}/cgroup.procs) && echo $init > {dir}/init
shim=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$init/status) && grep -q containerd-shim /proc/$shim/cmdline && kill -9 $shim`,
      ),
      host(
        "test ! -d {cgroup:memory} && test ! -e /run/containerd/runc/*/{id} && test ! -d /proc/$(cat {dir}/init)",
        {},
        { within: 5 * SECOND },
      ),
    ],
  },
  {
    name: "out of memory is seen",
    steps: [
      engine(["events"], { stdout: /\/tasks\/oom / }, { background: true }),
      // The shim listens for this event only once `start` has returned.
      engine(
        [
          ...["run", "--rm", "--memory-limit", String(16 * MEGABYTE), IMAGE, "{id}"],
          ...["sh", "-c", "sleep 1; exec dd if=/dev/zero of=/dev/null bs=64M count=1"],
        ],
        { status: 137 },
      ),
      host("sleep 0.5"),
    ],
  },
  {
    name: "unknown command",
    steps: [
      engine(["run", "--rm", IMAGE, "{id}", "no-such-program"], {
        status: "not-zero",
        output: /no-such-program.*executable file not found in \$PATH/,
      }),
      engine(["run", "--rm", IMAGE, "{id}b", "/no/such/program"], {
        status: "not-zero",
        output: /no\/such\/program.*no such file or directory/,
      }),
    ],
  },
  {
    name: "20 containers at once",
    notInMachines: "twenty machines need more memory than a host of tests has",
    steps: [
      engine(["run", "--rm", IMAGE, "{id}-{n}", "sh", "-c", "sleep 0.5; echo hello"], { stdout: /^hello$/m }, { copies: 20 }),
      host('test -z "$(ls -d /sys/fs/cgroup/*/{cgroup-parent}/{id}-* 2>/dev/null)"'),
    ],
  },
];
