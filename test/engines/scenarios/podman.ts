/** What Podman is asked to do, as root and as a user without rights on the host. */
import { IMAGE } from "../engine.ts";
import { engine, host, type Scenario } from "../scenario.ts";
import { detached, inspect, run, SECOND, SLEEP, shell } from "./client-steps.ts";
import { withCgroups, withoutCgroups } from "./podman-rights.ts";
import { stopping } from "./stopping.ts";

const basic: readonly Scenario[] = [
  { name: "run", steps: [run([], ["echo", "hello"], { stdout: /^hello$/m })] },
  { name: "run: stdin", steps: [run(["-i"], ["tr", "a-z", "A-Z"], { stdout: /^HELLO$/m }, { input: "hello\n" })] },
  { name: "run -t", steps: [run(["-it"], ["tty"], { stdout: /\/dev\/pts\/0\r?$/m }, { tty: true })] },
  {
    name: "run: detached, logs, rm",
    steps: [
      detached([], ["sh", "-c", "echo hello; sleep 60"]),
      engine(["logs", "{id}"], { stdout: /^hello$/m }, { within: 2 * SECOND }),
      engine(["rm", "-f", "-t", "0", "{id}"]),
      engine(["ps", "-a", "-q"], { stdout: /^$/ }),
    ],
  },
  {
    name: "run: user, workdir, env, hostname",
    steps: [
      shell(["--user", "user", "--workdir", "/tmp", "--env", "A=b", "--hostname", "box"], "id -u; pwd; echo $A $HOME; hostname", {
        stdout: /^1000\n\/tmp\nb \/home\/user\nbox$/m,
      }),
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
    ],
  },
  {
    name: "exec: exit statuses",
    steps: [
      detached(),
      engine(["exec", "{id}", "sh", "-c", "exit 5"], { status: 5 }),
      engine(["exec", "{id}", "no-such-program"], { status: 127, output: /executable file .*not found in \$PATH/ }),
      engine(["exec", "{id}", "/etc"], { status: 126, output: /permission denied/ }),
      engine(["exec", "-w", "/missing", "{id}", "true"], { status: 127, output: /no such file or directory/ }),
    ],
  },
  ...stopping,
  {
    name: "stop and start again",
    steps: [
      detached(),
      engine(["stop", "-t", "0", "{id}"]),
      engine(["start", "{id}"]),
      inspect("{{.State.Status}}", /^running$/m),
      engine(["restart", "-t", "0", "{id}"]),
      inspect("{{.State.Status}}", /^running$/m),
    ],
  },
  {
    name: "kill",
    steps: [
      detached([], ["sh", "-c", "trap 'echo got USR1' USR1; echo ready; while :; do sleep 0.1; done"]),
      engine(["logs", "{id}"], { stdout: /ready/ }, { within: 2 * SECOND }),
      engine(["kill", "-s", "USR1", "{id}"]),
      engine(["logs", "{id}"], { stdout: /got USR1/ }, { within: 2 * SECOND }),
      engine(["kill", "{id}"]),
      inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 137$/m),
    ],
  },
  {
    name: "top",
    steps: [
      detached(),
      engine(["top", "{id}"], { stdout: [/USER\s+PID/, /sleep 60/] }),
      engine(["top", "{id}", "pid", "comm"], { stdout: /^1\s+sleep/m }),
    ],
  },
  {
    name: "read-only",
    steps: [
      shell(["--read-only"], "touch /file", { status: 1, output: /Read-only file system/ }),
      shell(["--read-only"], "touch /tmp/file && echo written", { stdout: /^written$/m }),
      shell(["--read-only", "--read-only-tmpfs=false"], "touch /tmp/file", { status: 1, output: /Read-only file system/ }),
    ],
  },
  {
    name: "tmpfs",
    steps: [
      shell(["--tmpfs", "/data:rw,size=1m,mode=1777"], "grep ' /data ' /proc/mounts; stat -c %a /data; touch /data/x", {
        stdout: [/tmpfs \/data tmpfs .*size=1024k/, /^1777$/m],
      }),
    ],
  },
  {
    name: "capabilities",
    steps: [
      run(["--cap-drop", "all", "--cap-add", "net_admin"], ["grep", "Cap", "/proc/self/status"], {
        stdout: [/CapEff:\s+0000000000001000/, /CapBnd:\s+0000000000001000/],
      }),
      shell(["--cap-drop", "chown"], "chown user /etc/hostname", { status: 1, output: /Operation not permitted/ }),
    ],
  },
  {
    name: "sysctl",
    steps: [
      shell(
        ["--sysctl", "kernel.msgmax=65536", "--sysctl", "net.ipv4.ip_unprivileged_port_start=81"],
        "cat /proc/sys/kernel/msgmax /proc/sys/net/ipv4/ip_unprivileged_port_start",
        {
          stdout: /^65536\n81$/m,
        },
      ),
    ],
  },
  {
    name: "ulimit",
    steps: [
      shell(
        ["--ulimit", "nofile=1000:2000", "--ulimit", "core=0:0", "--ulimit", "nproc=32768:32768"],
        "ulimit -Sn; ulimit -Hn; ulimit -c",
        { stdout: /^1000\n2000\n0$/m },
      ),
    ],
  },
  {
    name: "seccomp: default profile",
    steps: [
      run([], ["grep", "Seccomp:", "/proc/self/status"], { stdout: /Seccomp:\s+2/ }),
      run(["--security-opt", "seccomp=unconfined"], ["grep", "Seccomp:", "/proc/self/status"], { stdout: /Seccomp:\s+0/ }),
    ],
  },
  {
    name: "seccomp: own profile",
    steps: [
      host(
        `cat > {dir}/profile.json <<'END'
{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86_64"],
"syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":28}]}
END
sed s/28/30/ {dir}/profile.json > {dir}/other.json`,
      ),
      shell(["--security-opt", "seccomp={dir}/profile.json"], "mkdir /x", { status: 1, output: /No space left on device/ }),
      // They differ in nothing else: a cache must not mix them up.
      shell(["--security-opt", "seccomp={dir}/other.json"], "mkdir /x", { status: 1, output: /Read-only file system/ }),
    ],
  },
  {
    name: "volumes",
    steps: [
      host("mkdir -m 777 {dir}/volume && echo text > {dir}/volume/file"),
      shell(["-v", "{dir}/volume:/data"], "cat /data/file; echo more > /data/more", { stdout: /^text$/m }),
      host("cat {dir}/volume/more", { stdout: /^more$/m }),
      shell(["-v", "{dir}/volume:/data:ro"], "touch /data/x", { status: 1, output: /Read-only file system/ }),
      shell(["-v", "{dir}/volume/file:/etc/file"], "cat /etc/file", { stdout: /^text$/m }),
      shell(["-v", "{id}:/data"], "echo kept > /data/file"),
      shell(["-v", "{id}:/data"], "cat /data/file", { stdout: /^kept$/m }),
      engine(["volume", "rm", "{id}"]),
    ],
  },
  {
    name: "--init",
    steps: [
      run(["--init"], ["cat", "/proc/1/comm"], { stdout: /catatonit|podman-init/ }),
      run(["--init"], ["sh", "-c", "exit 4"], { status: 4 }),
    ],
  },
  {
    name: "pods",
    steps: [
      engine(["pod", "create", "--name", "{id}", "--hostname", "pod"]),
      engine(["run", "-d", "--pod", "{id}", "--name", "{id}-a", IMAGE, ...SLEEP]),
      engine(["run", "--rm", "--pod", "{id}", IMAGE, "hostname"], { stdout: /^pod$/m }),
      engine(["exec", "{id}-a", "readlink", "/proc/self/ns/ipc"], { stdout: /^ipc:/m }),
      engine(["pod", "ps"], { stdout: /Running/ }),
      engine(["pod", "stop", "-t", "0", "{id}"]),
      engine(["pod", "rm", "-f", "{id}"]),
    ],
  },
  {
    name: "healthcheck run",
    steps: [
      detached(["--health-cmd", "test -e /healthy", "--health-interval", "disable"]),
      engine(["healthcheck", "run", "{id}"], { status: 1 }),
      engine(["exec", "{id}", "touch", "/healthy"]),
      engine(["healthcheck", "run", "{id}"]),
    ],
  },
  {
    name: "--preserve-fds",
    steps: [
      host("echo text > {dir}/file; exec 3< {dir}/file; {engine} run --rm --preserve-fds 1 {image} cat /proc/self/fd/3", {
        stdout: /^text$/m,
      }),
      host("echo text > {dir}/file; exec 3< {dir}/file; {engine} run -d --name {id} {image} sleep 60"),
      host("exec 3< {dir}/file; {engine} exec --preserve-fds 1 {id} sh -c 'cat <&3'", { stdout: /^text$/m }),
    ],
  },
  {
    name: "exit statuses",
    steps: [
      run([], ["sh", "-c", "exit 7"], { status: 7 }),
      run(["--no-such-flag"], ["true"], { status: 125 }),
      run([], ["/etc"], { status: 126, output: /permission denied/ }),
      run([], ["/etc/passwd"], { status: 126, output: /permission denied/ }),
      run([], ["/no/such/program"], { status: 127, output: /no such file or directory/ }),
      run([], ["no-such-program"], { status: 127, output: /executable file .*not found in \$PATH/ }),
      run([], ["sh", "-c", "kill -9 $$"], { status: "any" }),
      run(["--init"], ["sh", "-c", "kill -9 $$"], { status: 137 }),
    ],
  },
  {
    name: "10 containers at once",
    // Podman loses now and then what a container prints right before its end, with any runtime.
    steps: [engine(["run", "--rm", IMAGE, "sh", "-c", "echo hello; sleep 0.3"], { stdout: /^hello$/m }, { copies: 10 })],
  },
  {
    name: "back to runc",
    steps: [
      detached(),
      engine(["--runtime", "/usr/sbin/runc", "run", "--rm", IMAGE, "echo", "hello"], { stdout: /^hello$/m }),
      // A container keeps the runtime that it was made with.
      engine(["--runtime", "/usr/sbin/runc", "exec", "{id}", "echo", "still here"], { stdout: /^still here$/m }),
      engine(["--runtime", "/usr/sbin/runc", "rm", "-f", "-t", "0", "{id}"]),
    ],
  },
  {
    name: "masked and read-only paths",
    steps: [
      shell([], "cat /proc/kcore | head -c 1; echo x > /proc/sys/kernel/hostname", {
        status: 1,
        output: /Read-only file system|can't create/,
      }),
    ],
  },
];

export const rootful: readonly Scenario[] = [...basic, ...withCgroups];
export const rootless: readonly Scenario[] = [...basic, ...withoutCgroups];
