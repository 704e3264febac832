/** The program and the settings of its process. */
import { broken, type Case } from "../case.ts";

const CAPS = "/process/capabilities";
const SCHED = "/process/scheduler";
const limit = (type: string, soft: number, hard: number) => ({ "/process/rlimits": [{ type, soft, hard }] });

export const PROCESS: readonly Case[] = [
  broken("root-path-windows", { "/root/path": "d:\\images\\web" }),
  broken("rootfs-missing", { "/root/path": "rootfs/absent" }),
  broken("rootfs-not-directory", { "/root/path": "config.json" }),
  broken("cwd-relative", { "/process/cwd": "./" }),
  broken("cwd-missing", { "/process/cwd": "/srv/www" }),
  broken("cwd-not-directory", { "/process/cwd": "/etc/passwd" }),
  broken("cwd-not-directory", { "/process/cwd": "/bin/sh/x" }),
  broken("env-syntax", { "/process/env/-": "=x" }, { at: "/process/env/1" }),
  broken("env-syntax", { "/process/env/-": "" }, { at: "/process/env/1" }),
  broken("env-name", { "/process/env/-": "9LIVES=x" }, { at: "/process/env/1" }),
  broken("env-name", { "/process/env/-": "a.b=x" }, { at: "/process/env/1" }),
  broken("path-relative", { "/process/env": ["PATH=bin:/bin"] }, { at: "/process/env/0" }),
  broken("path-relative", { "/process/env": ["PATH=/bin::/usr/bin"] }, { at: "/process/env/0" }),
  broken("program-missing", { "/mounts/-": { destination: "/bin", type: "tmpfs", source: "tmpfs" } }, { at: "/process/args/0" }),
  broken(
    "program-missing",
    { "/mounts/-": { destination: "/bin", type: "tmpfs", source: "tmpfs" }, "/process/args": ["/bin/sh"] },
    { at: "/process/args/0" },
  ),
  broken("program-missing", { "/process/args": ["/bin/shh"] }, { at: "/process/args/0" }),
  broken("program-missing", { "/process/env": ["PATH=/usr/bin"] }, { at: "/process/args/0" }),
  broken(
    "program-missing",
    { "/process/args": ["/bin/link"] },
    {
      at: "/process/args/0",
      files: { "/bundle/rootfs/bin/link": { kind: "symlink", text: "nowhere" } },
    },
  ),
  broken("program-kind", { "/process/args": ["/tmp"] }, { at: "/process/args/0" }),
  broken(
    "program-not-executable",
    { "/process/args": ["/bin/plain"] },
    {
      at: "/process/args/0",
      files: { "/bundle/rootfs/bin/plain": { kind: "file", mode: 0o644, text: "elf:62" } },
    },
  ),
  broken(
    "program-interpreter",
    { "/process/args": ["/bin/script"] },
    {
      at: "/process/args/0",
      files: { "/bundle/rootfs/bin/script": { kind: "file", mode: 0o755, text: "#!/usr/bin/python3 -u\n" } },
    },
  ),
  broken("user-no-id", { "/process/user/gid": 4294967295 }),
  broken("mode-decimal", { "/process/user/umask": 77 }),
  broken("capability-unknown", { [`${CAPS}/bounding`]: ["KILL"] }, { at: `${CAPS}/bounding/0` }),
  broken("capability-unknown", { [`${CAPS}/inheritable`]: ["CAP_ALL"] }, { at: `${CAPS}/inheritable/0` }),
  broken(
    "capability-not-permitted",
    { [`${CAPS}/effective`]: ["CAP_CHOWN"], [`${CAPS}/permitted`]: ["CAP_KILL"] },
    {
      fixed: { [`${CAPS}/effective`]: ["CAP_KILL"], [`${CAPS}/permitted`]: ["CAP_KILL"] },
      at: `${CAPS}/effective/0`,
    },
  ),
  broken("rlimit-unknown", limit("NOFILE", 1, 1), { at: "/process/rlimits/0/type" }),
  broken("rlimit-unknown", limit("RLIMIT_VMEM", 1, 1), { at: "/process/rlimits/0/type" }),
  broken("rlimit-order", limit("RLIMIT_NOFILE", 2048, 1024), { at: "/process/rlimits/0/soft" }),
  broken("rlimit-order", limit("RLIMIT_STACK", 9e6, 8e6), { at: "/process/rlimits/0/soft" }),
  broken("oom-score-range", { "/process/oomScoreAdj": -1001 }),
  broken("oom-score-range", { "/process/oomScoreAdj": 2147483647 }),
  broken("scheduler-policy", { [SCHED]: { policy: "OTHER" } }, { at: `${SCHED}/policy` }),
  broken("scheduler-policy", { [SCHED]: { policy: "SCHED_NORMAL" } }, { at: `${SCHED}/policy` }),
  broken("scheduler-nice", { [SCHED]: { policy: "SCHED_BATCH", nice: -21 } }, { at: `${SCHED}/nice` }),
  broken("scheduler-priority", { [SCHED]: { policy: "SCHED_RR", priority: 0 } }, { at: `${SCHED}/priority` }),
  broken("scheduler-priority", { [SCHED]: { policy: "SCHED_OTHER", priority: 5 } }, { at: `${SCHED}/priority` }),
  broken("scheduler-deadline", { [SCHED]: { policy: "SCHED_OTHER", runtime: 1000000 } }, { at: `${SCHED}/runtime` }),
  broken("scheduler-flag", { [SCHED]: { policy: "SCHED_OTHER", flags: ["RESET_ON_FORK"] } }, { at: `${SCHED}/flags/0` }),
  broken("io-priority-class", { "/process/ioPriority": { class: "BE", priority: 1 } }, { at: "/process/ioPriority/class" }),
  broken(
    "io-priority-level",
    { "/process/ioPriority": { class: "IOPRIO_CLASS_RT", priority: -1 } },
    { at: "/process/ioPriority/priority" },
  ),
  broken("selinux-off", { "/linux/mountLabel": "system_u:object_r:container_file_t:s0" }),
];
