/** What Docker's containers may do, see and use. */
import { IMAGE } from "../engine.ts";
import { engine, host, type Scenario } from "../scenario.ts";
import { detached, inspect, logs, run, SECOND, shell } from "./client-steps.ts";

const EATER = ["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"];
/** All that Docker knows, old or new; CAP_SYS_RESOURCE may be missing on the host. */
const ALL_CAPABILITIES = /CapEff:\s+(0000003ff|000001fff)[ef]f{6}/;
const V1 = "/sys/fs/cgroup";

export const rights: readonly Scenario[] = [
  {
    name: "read-only, tmpfs",
    steps: [
      shell(["--read-only"], "touch /file", { status: 1, output: /Read-only file system/ }),
      shell(["--read-only", "--tmpfs", "/data:rw,size=1m,mode=1777"], "grep ' /data ' /proc/mounts; stat -c %a /data; touch /data/x", {
        stdout: [/tmpfs \/data tmpfs .*size=1024k/, /^1777$/m],
      }),
    ],
  },
  {
    name: "capabilities",
    steps: [
      run(["--cap-drop", "ALL", "--cap-add", "NET_ADMIN"], ["grep", "Cap", "/proc/self/status"], {
        stdout: [/CapEff:\s+0000000000001000/, /CapBnd:\s+0000000000001000/],
      }),
      shell(["--cap-drop", "CHOWN"], "chown user /tmp", { status: 1, output: /Operation not permitted/ }),
    ],
  },
  {
    name: "no-new-privileges",
    steps: [run(["--security-opt", "no-new-privileges"], ["grep", "NoNewPrivs", "/proc/self/status"], { stdout: /NoNewPrivs:\s+1/ })],
  },
  {
    name: "seccomp",
    steps: [
      run([], ["grep", "Seccomp:", "/proc/self/status"], { stdout: /Seccomp:\s+2/ }),
      run(["--security-opt", "seccomp=unconfined"], ["grep", "Seccomp:", "/proc/self/status"], { stdout: /Seccomp:\s+0/ }),
      host(
        `cat > {dir}/profile.json <<'END'
{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_X86_64"],
"syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":28}]}
END`,
      ),
      shell(["--security-opt", "seccomp={dir}/profile.json"], "mkdir /x", { status: 1, output: /No space left on device/ }),
    ],
  },
  {
    name: "ulimit, sysctl, shm-size",
    steps: [
      shell(["--ulimit", "nofile=1000:2000", "--ulimit", "core=0:0"], "ulimit -Sn; ulimit -Hn; ulimit -c", { stdout: /^1000\n2000\n0$/m }),
      shell(
        ["--sysctl", "kernel.msgmax=65536", "--sysctl", "net.ipv4.ip_unprivileged_port_start=81"],
        "cat /proc/sys/kernel/msgmax /proc/sys/net/ipv4/ip_unprivileged_port_start",
        { stdout: /^65536\n81$/m },
      ),
      shell(["--shm-size", "1m"], "grep ' /dev/shm ' /proc/mounts", { stdout: /size=1024k/ }),
    ],
  },
  {
    name: "limits: memory, pids, cpu",
    steps: [
      shell(
        [
          ...["--memory", "64m", "--memory-swap", "128m", "--memory-reservation", "32m", "--pids-limit", "11"],
          ...["--cpus", "0.5", "--cpu-shares", "512", "--cpuset-cpus", "0"],
        ],
        `cd ${V1}; cat memory/memory.limit_in_bytes memory/memory.soft_limit_in_bytes pids/pids.max cpu/cpu.cfs_quota_us cpu/cpu.shares cpuset/cpuset.cpus`,
        { stdout: /^67108864\n33554432\n11\n50000\n512\n0$/m },
      ),
    ],
  },
  {
    name: "update",
    steps: [
      detached(["--memory", "32m"]),
      engine(["update", "--memory", "64m", "--memory-swap", "128m", "--cpus", "0.25", "--cpu-shares", "256", "--pids-limit", "17", "{id}"]),
      engine(
        [
          ...["exec", "{id}", "cat", `${V1}/memory/memory.limit_in_bytes`, `${V1}/cpu/cpu.cfs_quota_us`],
          ...[`${V1}/cpu/cpu.shares`, `${V1}/pids/pids.max`],
        ],
        { stdout: /^67108864\n25000\n256\n17$/m },
      ),
    ],
  },
  {
    name: "out of memory is seen",
    steps: [
      engine(["run", "--name", "{id}", "--memory", "16m", IMAGE, ...EATER], { status: 137 }),
      inspect("{{.State.OOMKilled}} {{.State.ExitCode}}", /^true 137$/m),
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
      shell(["--device-cgroup-rule", "c 120:* rwm"], "mknod /tmp/own c 120 7; cat /tmp/own", {
        status: 1,
        output: /No such device or addr/,
      }),
      shell([], "mknod /tmp/kmsg c 1 11 && cat /tmp/kmsg", { status: 1, output: /not permitted/ }),
    ],
  },
  {
    // runc refuses capabilities that this host's root lacks.
    name: "--privileged",
    steps: [
      shell(["--privileged"], "mkdir /mnt; mount -t tmpfs none /mnt && echo mounted; ls -l /dev/kmsg", {
        stdout: [/^mounted$/m, /1,\s+11.*\/dev\/kmsg/],
      }),
      run(["--privileged"], ["grep", "-E", "CapEff|Seccomp:", "/proc/self/status"], { stdout: [ALL_CAPABILITIES, /Seccomp:\s+0/] }),
      detached(),
      engine(["exec", "--privileged", "{id}", "grep", "CapEff", "/proc/self/status"], { stdout: ALL_CAPABILITIES }),
    ],
  },
  {
    name: "--pid host",
    steps: [
      detached(["--pid", "host"], ["sh", "-c", "sleep 61 & sleep 62 & wait"]),
      engine(["exec", "{id}", "sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null | grep -x dockerd"], { stdout: /dockerd/ }),
      host(`{engine} inspect -f '{{.Id}}' {id} > {dir}/id`),
      host(`wc -l < ${V1}/pids/{cgroup-parent}/$(cat {dir}/id)/cgroup.procs`, { stdout: /^3$/m }, { within: 2 * SECOND }),
      // The processes that init leaves behind have no namespace that ends them.
      engine(["kill", "{id}"]),
      inspect("{{.State.Status}} {{.State.ExitCode}}", /^exited 137$/m),
      host(`test ! -e ${V1}/pids/{cgroup-parent}/$(cat {dir}/id)`, {}, { within: 5 * SECOND }),
    ],
  },
  {
    name: "namespaces of the host and of others",
    steps: [
      host(
        'test "$({engine} run --rm --ipc host --uts host {image} sh -c \'readlink /proc/self/ns/ipc; readlink /proc/self/ns/uts\')" = "$(readlink /proc/self/ns/ipc; readlink /proc/self/ns/uts)"',
      ),
      detached(["--ipc", "shareable"]),
      run(["--pid", "container:{id}"], ["ps"], { stdout: /^\s+1 root\s.*sleep 60/m }),
      host(
        "test $({engine} exec {id} readlink /proc/self/ns/ipc) = $({engine} run --rm --ipc container:{id} {image} readlink /proc/self/ns/ipc)",
      ),
      run(["--cgroupns", "private"], ["cat", "/proc/self/cgroup"], { stdout: /:memory:\/$/m, not: /:memory:\/.+/ }),
    ],
  },
  {
    name: "masked and read-only paths",
    steps: [
      shell([], "cat /proc/kcore | wc -c", { stdout: /^0$/m }),
      shell([], "echo x > /proc/sys/kernel/hostname", { status: 1, output: /Read-only file system|can't create/ }),
      shell(["--security-opt", "systempaths=unconfined"], "grep -c ' /proc/' /proc/self/mounts; true", { stdout: /^0$/m }),
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
    name: "volumes: propagation",
    steps: [
      host(
        "mkdir {dir}/volume && mount --bind {dir}/volume {dir}/volume && mount --make-shared {dir}/volume && mkdir {dir}/volume/a {dir}/volume/b",
      ),
      detached(["-v", "{dir}/volume:/slave:rslave", "-v", "{dir}/volume:/private:rprivate"]),
      host("mount -t tmpfs {id} {dir}/volume/a"),
      engine(["exec", "{id}", "cat", "/proc/self/mounts"], { stdout: / \/slave\/a tmpfs/, not: / \/private\/a tmpfs/ }),
      shell(["--cap-add", "SYS_ADMIN", "-v", "{dir}/volume:/shared:rshared"], "mount -t tmpfs inner /shared/b; touch /shared/b/file"),
      host("test -e {dir}/volume/b/file"),
      host("umount {dir}/volume/b; umount {dir}/volume/a; umount {dir}/volume"),
    ],
  },
  {
    name: "terminal: output before the end",
    steps: [detached(["-t"], ["sh", "-c", "seq 1 20000; echo last"]), logs(/^20000\r?\nlast/m)],
  },
];
