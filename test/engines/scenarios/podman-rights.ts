/** What depends on who asks: root, or a user who has no cgroups here (version 1). */
import { IMAGE } from "../engine.ts";
import { engine, host, type Scenario } from "../scenario.ts";
import { detached, inspect, run, SECOND, shell } from "./client-steps.ts";

const EATER = ["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"];

export const withCgroups: readonly Scenario[] = [
  {
    name: "namespaces of the host",
    steps: [
      shell(["--pid", "host", "--ipc", "host", "--uts", "host"], "echo ok", { stdout: /^ok$/m }),
      detached(["--pid", "host"]),
      engine(["kill", "{id}"]),
      inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 137$/m),
    ],
  },
  {
    name: "pause and unpause",
    steps: [
      detached(),
      engine(["pause", "{id}"]),
      inspect("{{.State.Status}}", /^paused$/m),
      engine(["unpause", "{id}"]),
      inspect("{{.State.Status}}", /^running$/m),
    ],
  },
  {
    name: "stats",
    steps: [
      detached(),
      engine(["stats", "--no-stream", "--format", "{{.Name}}|{{.MemUsage}}|{{.PIDs}}", "{id}"], {
        stdout: /^t\d+-\d+\|[\d.]+[kM]?B \/ .*\|1$/m,
      }),
    ],
  },
  {
    name: "update",
    steps: [
      detached(["--memory", "32m"]),
      engine(["update", "--memory", "64m", "--cpus", "0.25", "{id}"]),
      engine(["exec", "{id}", "cat", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"], {
        stdout: /^67108864\n25000$/m,
      }),
    ],
  },
  {
    name: "limits: memory, pids, cpu",
    steps: [
      shell(
        [
          "--memory",
          "64m",
          "--memory-reservation",
          "32m",
          "--pids-limit",
          "11",
          "--cpus",
          "0.5",
          "--cpu-shares",
          "512",
          "--cpuset-cpus",
          "0",
        ],
        "cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes memory/memory.soft_limit_in_bytes pids/pids.max cpu/cpu.cfs_quota_us cpu/cpu.shares cpuset/cpuset.cpus",
        { stdout: /^67108864\n33554432\n11\n50000\n512\n0$/m },
      ),
      shell(["--pids-limit", "4"], "for i in 1 2 3 4 5 6; do sleep 1 & done; wait", { status: "any", output: /fork/ }),
    ],
  },
  {
    name: "limits: out of memory",
    steps: [
      engine(["run", "--name", "{id}", "--memory", "16m", IMAGE, ...EATER], { status: 137 }),
      inspect("{{.State.ExitCode}}", /^137$/m),
    ],
  },
  {
    name: "devices",
    steps: [
      shell(["--device", "/dev/zero:/dev/nought:r"], "head -c 3 /dev/nought | od -An -tx1; ls -l /dev/nought", {
        stdout: [/00 00 00/, /1,\s+5/],
      }),
      // A number without a driver: what the cgroup lets through ends with ENXIO.
      host("mknod {dir}/device c 120 1"),
      shell(["--device", "{dir}/device:/dev/own:r"], "cat /dev/own", { status: 1, output: /No such device or address/ }),
      shell(["--device", "{dir}/device:/dev/own:r"], "echo x > /dev/own", { status: 1, output: /not permitted/ }),
      shell(["--cap-add", "mknod"], "mknod /tmp/kmsg c 1 11 && cat /tmp/kmsg", { status: 1, output: /not permitted/ }),
    ],
  },
  {
    name: "--privileged",
    steps: [
      shell(
        ["--privileged"],
        "grep CapEff /proc/self/status; mount -t tmpfs none /mnt 2>&1 || mkdir /mnt && mount -t tmpfs none /mnt && echo mounted",
        { stdout: /^mounted$/m },
      ),
    ],
  },
  {
    name: "user namespace",
    steps: [
      shell(["--uidmap", "0:100000:5000", "--gidmap", "0:100000:5000"], "cat /proc/self/uid_map; id -u", {
        stdout: /^\s+0\s+100000\s+5000\n0$/m,
      }),
    ],
  },
  {
    name: "hooks",
    steps: [
      host(
        `mkdir {dir}/hooks && cat > {dir}/hooks/test.json <<'END'
{"version":"1.0.0","hook":{"path":"/bin/sh","args":["sh","-c","cat >> {dir}/states; echo >> {dir}/states"]},"when":{"always":true},"stages":["createRuntime","poststart","poststop"]}
END`,
      ),
      engine(["--hooks-dir", "{dir}/hooks", "run", "--rm", IMAGE, "true"]),
      host("grep -c ociVersion {dir}/states", { stdout: /^3$/m }, { within: 2 * SECOND }),
    ],
  },
  {
    name: "LISTEN_FDS",
    steps: [
      host(
        `echo text > {dir}/file; exec 3< {dir}/file; export LISTEN_FDS=1; LISTEN_PID=$$ exec {engine} run --rm {image} sh -c 'echo $LISTEN_FDS $LISTEN_PID; cat <&3'`,
        { stdout: /^1 1\ntext$/m },
      ),
    ],
  },
  {
    name: "--cgroups=disabled",
    steps: [run(["--cgroups=disabled"], ["echo", "hello"], { stdout: /^hello$/m })],
  },
];

export const withoutCgroups: readonly Scenario[] = [
  {
    name: "namespaces of the host",
    steps: [
      shell(["--pid", "host", "--uts", "host"], "echo ok", { stdout: /^ok$/m }),
      detached(["--pid", "host"]),
      engine(["kill", "{id}"]),
      inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 137$/m),
    ],
  },
  {
    name: "devices",
    steps: [shell(["--device", "/dev/zero:/dev/nought"], "head -c 3 /dev/nought | od -An -tx1", { stdout: /00 00 00/ })],
  },
  {
    name: "user namespace of the caller",
    steps: [
      run([], ["cat", "/proc/self/uid_map"], { stdout: /^\s+0\s+4000\s+1$/m }),
      shell(["--userns", "keep-id"], "id -u", { stdout: /^4000$/m }),
    ],
  },
];
