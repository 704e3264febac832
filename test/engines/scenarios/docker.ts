/** What Docker is asked to do. */
import { IMAGE } from "../engine.ts";
import { engine, host, type Scenario } from "../scenario.ts";
import { detached, inspect, logs, run, SECOND, SLEEP, shell } from "./client-steps.ts";
import { build } from "./docker-build.ts";
import { daemon } from "./docker-daemon.ts";
import { network } from "./docker-network.ts";
import { rights } from "./docker-rights.ts";
import { stopping } from "./stopping.ts";

/** Says when it listens, so that a signal does not come too early. */
const trapping = (action: string): readonly string[] => ["sh", "-c", `trap '${action}' TERM USR1; echo ready; while :; do sleep 0.1; done`];

const basic: readonly Scenario[] = [
  { name: "run", steps: [run([], ["echo", "hello"], { stdout: /^hello$/m })] },
  { name: "run: runtime", steps: [detached(), inspect("{{.HostConfig.Runtime}}", /^tested$/m)] },
  { name: "run: stdin", steps: [run(["-i"], ["tr", "a-z", "A-Z"], { stdout: /^HELLO$/m }, { input: "hello\n" })] },
  { name: "run -it", steps: [run(["-it"], ["tty"], { stdout: /\/dev\/pts\/0\r?$/m }, { tty: true })] },
  {
    name: "run: user, workdir, env, hostname",
    steps: [
      shell(["--user", "user", "--workdir", "/tmp", "--env", "A=b", "--hostname", "box"], "id -u; pwd; echo $A $HOME; hostname", {
        stdout: /^1000\n\/tmp\nb \/home\/user\nbox$/m,
      }),
      shell(["--user", "5:6", "--group-add", "7"], "id -u; id -g; id -G", { stdout: /^5\n6\n6 7$/m }),
    ],
  },
  {
    name: "exit statuses",
    steps: [
      run([], ["sh", "-c", "exit 7"], { status: 7 }),
      run(["--no-such-flag"], ["true"], { status: 125 }),
      run(["--mount", "type=bind,src=/no/such/source,dst=/mnt"], ["true"], { status: 125 }),
      run([], ["/etc"], { status: 126, output: /permission denied/ }),
      run([], ["/etc/passwd"], { status: 126, output: /permission denied/ }),
      run([], ["/no/such/program"], { status: 127, output: /no such file or directory/ }),
      run([], ["no-such-program"], { status: 127, output: /executable file .*not found in \$PATH/ }),
      // 125: what this version of Docker makes of any runtime's words.
      run([], ["/etc/passwd/program"], { status: 125, output: /not a directory/ }),
      run(["--init"], ["sh", "-c", "kill -9 $$"], { status: 137 }),
    ],
  },
  {
    name: "detached, logs, wait, rm",
    steps: [
      detached([], ["sh", "-c", "echo hello; sleep 0.5; exit 6"]),
      logs(/^hello$/m),
      engine(["wait", "{id}"], { stdout: /^6$/m }),
      engine(["rm", "{id}"]),
      engine(["ps", "-a", "-q"], { stdout: /^$/ }),
    ],
  },
  {
    name: "exec",
    steps: [
      detached(),
      engine(["exec", "{id}", "echo", "hello"], { stdout: /^hello$/m }),
      engine(["exec", "-u", "user", "-w", "/tmp", "-e", "A=b", "{id}", "sh", "-c", "id -u; pwd; echo $A"], { stdout: /^1000\n\/tmp\nb$/m }),
      engine(["exec", "-i", "{id}", "tr", "a-z", "A-Z"], { stdout: /^HELLO$/m }, { input: "hello\n" }),
      engine(["exec", "-it", "{id}", "tty"], { stdout: /\/dev\/pts\/\d+\r?$/m }, { tty: true }),
      engine(["exec", "-d", "{id}", "touch", "/made"]),
      engine(["exec", "{id}", "test", "-e", "/made"], {}, { within: 2 * SECOND }),
    ],
  },
  {
    name: "exec: exit statuses",
    steps: [
      detached(),
      engine(["exec", "{id}", "sh", "-c", "exit 5"], { status: 5 }),
      // 126 for all: what this version of Docker makes of any runtime's words.
      engine(["exec", "{id}", "no-such-program"], { status: 126, output: /executable file .*not found in \$PATH/ }),
      engine(["exec", "{id}", "/etc"], { status: 126, output: /permission denied/ }),
      engine(["exec", "-w", "/missing", "{id}", "true"], { status: "not-zero", output: /no such file or directory/ }),
      engine(["exec", "{id}", "true"]),
    ],
  },
  {
    name: "attach",
    steps: [
      detached(["-i"], ["sh", "-c", "read word; echo got $word; exit 4"]),
      // The end of its input is the end for the client of this version.
      host("(echo hello; sleep 2) | {engine} attach {id}", { status: 4, stdout: /^got hello$/m }),
    ],
  },
  {
    name: "attach: terminal",
    steps: [
      detached(["-it"], ["sh", "-c", "sleep 1; tty; exit 4"]),
      engine(["attach", "{id}"], { status: 4, stdout: /\/dev\/pts\/0/ }, { tty: true }),
    ],
  },
  ...stopping,
  {
    name: "stop, start, restart",
    steps: [
      detached(),
      engine(["stop", "-t", "0", "{id}"]),
      engine(["start", "{id}"]),
      inspect("{{.State.Status}}", /^running$/m),
      engine(["restart", "-t", "0", "{id}"]),
      inspect("{{.State.Status}}", /^running$/m),
      engine(["exec", "{id}", "echo", "hello"], { stdout: /^hello$/m }),
    ],
  },
  {
    name: "kill",
    steps: [
      detached([], trapping("echo got a signal")),
      logs(/ready/),
      engine(["kill", "-s", "USR1", "{id}"]),
      logs(/got a signal/),
      engine(["kill", "{id}"]),
      inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 137$/m),
      engine(["kill", "{id}"], { status: 1, output: /is not running/ }),
    ],
  },
  {
    name: "pause and unpause",
    steps: [
      detached(),
      engine(["pause", "{id}"]),
      inspect("{{.State.Status}}", /^paused$/m),
      engine(["exec", "{id}", "true"], { status: "not-zero", output: /is paused/ }),
      engine(["unpause", "{id}"]),
      inspect("{{.State.Status}}", /^running$/m),
      engine(["exec", "{id}", "true"]),
    ],
  },
  {
    name: "top",
    steps: [
      detached([], ["sh", "-c", "sleep 61 & sleep 62 & wait"]),
      engine(["top", "{id}"], { stdout: [/UID\s+PID/, /sleep 61/, /sleep 62/] }, { within: 2 * SECOND }),
    ],
  },
  {
    name: "stats",
    steps: [
      detached(),
      engine(["stats", "--no-stream", "--format", "{{.Name}}|{{.MemUsage}}|{{.PIDs}}", "{id}"], {
        stdout: /^t\d+-\d+\|[1-9][\d.]*[KM]?i?B \/ .*\|1$/m,
      }),
    ],
  },
  {
    name: "cp",
    steps: [
      detached(),
      host("echo text > {dir}/file"),
      engine(["cp", "{dir}/file", "{id}:/tmp/file"]),
      engine(["exec", "{id}", "cat", "/tmp/file"], { stdout: /^text$/m }),
      engine(["cp", "{id}:/tmp/file", "{dir}/back"]),
      host("cmp {dir}/file {dir}/back"),
    ],
  },
  {
    name: "restart policy: on-failure",
    steps: [
      detached(["--restart", "on-failure:2"], ["sh", "-c", "exit 3"]),
      inspect("{{.RestartCount}} {{.State.Status}} {{.State.ExitCode}}", /^2 exited 3$/m, 20 * SECOND),
    ],
  },
  {
    name: "restart policy: always",
    steps: [
      detached(["--restart", "always"]),
      host("kill -9 $({engine} inspect -f '{{.State.Pid}}' {id})"),
      inspect("{{.RestartCount}} {{.State.Status}}", /^1 running$/m, 10 * SECOND),
      engine(["exec", "{id}", "echo", "hello"], { stdout: /^hello$/m }),
    ],
  },
  {
    name: "healthcheck",
    steps: [
      detached(["--health-cmd", "test -e /healthy", "--health-interval", "300ms", "--health-retries", "1"]),
      inspect("{{.State.Health.Status}}", /^unhealthy$/m, 10 * SECOND),
      engine(["exec", "{id}", "touch", "/healthy"]),
      inspect("{{.State.Health.Status}}", /^healthy$/m, 10 * SECOND),
      engine(["exec", "{id}", "rm", "/healthy"]),
      inspect("{{.State.Health.Status}}", /^unhealthy$/m, 10 * SECOND),
    ],
  },
  {
    name: "--init",
    steps: [
      run(["--init"], ["cat", "/proc/1/comm"], { stdout: /docker-init|tini/ }),
      run(["--init"], ["sh", "-c", "exit 4"], { status: 4 }),
    ],
  },
  {
    name: "20 containers at once",
    steps: [
      engine(
        ["run", "--rm", "--cidfile", "{dir}/cid-{n}", IMAGE, "sh", "-c", "sleep 0.5; echo hello"],
        { stdout: /^hello$/m },
        { copies: 20 },
      ),
      host("ls {dir}/cid-* | wc -l", { stdout: /^20$/m }),
      host("! find /run /sys/fs/cgroup $(sed 's/.*/-name & -o/' {dir}/cid-*) -false | grep .", {}, { within: 5 * SECOND }),
    ],
  },
  {
    name: "back to runc",
    steps: [
      detached(),
      engine(["run", "--rm", "--runtime", "debian", IMAGE, "echo", "hello"], { stdout: /^hello$/m }),
      engine(["run", "-d", "--name", "{id}-runc", "--runtime", "debian", IMAGE, ...SLEEP]),
      // A container keeps the runtime that it was made with.
      engine(["exec", "{id}", "echo", "still here"], { stdout: /^still here$/m }),
      engine(["exec", "{id}-runc", "echo", "there too"], { stdout: /^there too$/m }),
      engine(["rm", "-f", "{id}", "{id}-runc"]),
    ],
  },
];

/** The daemon's `--userns-remap`. */
export const userNamespace: readonly Scenario[] = [
  {
    name: "run",
    steps: [
      run([], ["cat", "/proc/self/uid_map"], { stdout: /^\s+0\s+200000\s+65536$/m }),
      shell([], "touch /file && stat -c '%u %g' /file", { stdout: /^0 0$/m }),
      run(["-it"], ["tty"], { stdout: /\/dev\/pts\/0\r?$/m }, { tty: true }),
    ],
  },
  {
    name: "processes and files belong to the subordinate user",
    steps: [
      host("mkdir -m 777 {dir}/volume"),
      detached(["-v", "{dir}/volume:/data"], ["sh", "-c", "touch /data/file; sleep 60"]),
      host("stat -c %u /proc/$({engine} inspect -f '{{.State.Pid}}' {id})", { stdout: /^200000$/m }),
      host("stat -c %u {dir}/volume/file", { stdout: /^200000$/m }, { within: 2 * SECOND }),
    ],
  },
  {
    name: "exec, stop",
    steps: [
      detached([], trapping("exit 3")),
      logs(/ready/),
      engine(["exec", "{id}", "cat", "/proc/self/uid_map"], { stdout: /^\s+0\s+200000\s+65536$/m }),
      engine(["stop", "{id}"]),
      inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 3$/m),
    ],
  },
  {
    name: "limits",
    steps: [
      shell(["--memory", "64m"], "cat /sys/fs/cgroup/memory/memory.limit_in_bytes", { stdout: /^67108864$/m }),
      engine(["run", "--name", "{id}", "--memory", "16m", IMAGE, "dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"], {
        status: 137,
      }),
      inspect("{{.State.OOMKilled}}", /^true$/m),
    ],
  },
  {
    name: "--userns host",
    steps: [run(["--userns", "host"], ["cat", "/proc/self/uid_map"], { stdout: /^\s+0\s+0\s+4294967295$/m })],
  },
];

export const scenarios: readonly Scenario[] = [...basic, ...rights, ...network, ...build, ...daemon];
