/** Findings about the settings of the process. */
import { type Entries, entry } from "../catalogue/entry.ts";

const CAPS = "/process/capabilities";
const SCHED = "/process/scheduler";
const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER_NAMESPACE = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };

export const PROCESS: Entries = {
  "console-size-ignored": entry(
    "advice",
    "consoleSize without a terminal",
    "config.md#process",
    "It has no effect.",
    "leave it out, or set terminal",
    {
      broken: { "/process/consoleSize": { height: 24, width: 80 } },
    },
  ),
  "term-missing": entry(
    "advice",
    "A terminal, and no TERM",
    "term(7)",
    "Programs read the type of the terminal from TERM; without it they use no colours and no line editing.",
    "add TERM=xterm to process.env",
    { broken: { "/process/terminal": true }, fixed: { "/process/terminal": true, "/process/env/-": "TERM=xterm" } },
  ),
  "terminal-without-devpts": entry(
    "error",
    "A terminal, and no devpts to take it from",
    "config-linux.md#default-filesystems",
    "The terminal is a pseudo-terminal of the container's devpts.",
    "mount devpts on /dev/pts (options newinstance, ptmxmode=0666, mode=0620)",
    {
      broken: { "/process/terminal": true, "/process/env/-": "TERM=xterm", "/mounts/2": null },
      fixed: { "/process/terminal": true, "/process/env/-": "TERM=xterm" },
      at: "/process/terminal",
    },
  ),
  "argument-too-long": entry(
    "error",
    "An argument or a variable that is too long",
    "execve(2)",
    "The kernel accepts 128 KiB for one string, including the NUL byte; otherwise the program cannot start.",
    "pass it in a file",
    { broken: { "/process/env/-": `LONG=${"x".repeat(131_072)}` }, at: "/process/env/1" },
  ),
  "arguments-too-large": entry(
    "error",
    "Arguments and environment are too large together",
    "execve(2)",
    "With a pointer for each, they may use a quarter of RLIMIT_STACK, at least 128 KiB and at most 6 MiB; otherwise the program cannot start.",
    "pass less, or raise RLIMIT_STACK in process.rlimits",
    {
      broken: {
        "/process/env/-": `ONE=${"x".repeat(70_000)}`,
        "/process/args/-": "x".repeat(70_000),
        "/process/rlimits": [{ type: "RLIMIT_STACK", soft: 262_144, hard: 8_388_608 }],
      },
      fixed: {
        "/process/env/-": `ONE=${"x".repeat(70_000)}`,
        "/process/args/-": "x".repeat(70_000),
        "/process/rlimits": [{ type: "RLIMIT_STACK", soft: 1_048_576, hard: 8_388_608 }],
      },
      at: "/process",
    },
  ),
  "user-no-id": entry(
    "error",
    "4294967295 is no id",
    "setresuid(2)",
    'For the kernel this number means "do not change the id".',
    "use another id",
    {
      broken: { "/process/user/uid": 4294967295 },
      fixed: { "/process/user/uid": 65534 },
    },
  ),
  "groups-many": entry(
    "error",
    "More groups than a process can be in",
    "setgroups(2)",
    "The kernel accepts at most 65,536 additional groups.",
    "name fewer groups",
    {
      // Made when it is looked at: the engine image holds what stands here.
      get broken() {
        return { "/process/user/additionalGids": Array.from({ length: 65_537 }, (_, id) => id) };
      },
      fixed: { "/process/user/additionalGids": [5, 6] },
      at: "/process/user/additionalGids",
    },
  ),
  "mode-decimal": entry(
    "warning",
    "Permissions in decimal digits that look octal",
    "config.md#user",
    "JSON has no octal numbers: 022 is written 18, 0666 is written 438.",
    "write the decimal number",
    { broken: { "/process/user/umask": 22 }, fixed: { "/process/user/umask": 18 } },
  ),
  "groups-kept": entry(
    "warning",
    "Groups together with the annotation that keeps the caller's groups",
    "setgroups(2)",
    "run.oci.keep_original_groups keeps the supplementary groups of the caller.",
    "leave one of the two out",
    {
      broken: { "/annotations/run.oci.keep_original_groups": "1", "/process/user/additionalGids": [5] },
      fixed: { "/annotations/run.oci.keep_original_groups": "1" },
      at: "/process/user/additionalGids",
    },
  ),
  "capability-unknown": entry(
    "warning",
    "An unknown capability",
    "config.md#linux-process",
    "runt ignores it, as the specification requires.",
    "correct the name",
    { broken: { [`${CAPS}/bounding`]: ["CAP_SYS_ADMN"] }, fixed: { [`${CAPS}/bounding`]: ["CAP_SYS_ADMIN"] }, at: `${CAPS}/bounding/0` },
  ),
  "capability-unavailable": entry(
    "warning",
    "A capability that the runtime does not have itself",
    "capabilities(7)",
    "A runtime cannot give a capability that is not in the bounding set of its caller.",
    "leave it out, or run the runtime with it",
    {
      broken: { [`${CAPS}/bounding`]: ["CAP_SYS_ADMIN"] },
      fixed: { [`${CAPS}/bounding`]: ["CAP_KILL"] },
      at: `${CAPS}/bounding/0`,
      facts: { caller: { bounding: ["CAP_KILL"] } },
    },
  ),
  "capability-not-permitted": entry(
    "warning",
    "An effective capability that is not permitted",
    "capabilities(7)",
    "The effective set must be part of the permitted set; the kernel refuses other capabilities, so runt leaves this one out.",
    "add it to permitted, or leave it out of effective",
    {
      broken: { [`${CAPS}/effective`]: ["CAP_KILL"] },
      fixed: { [`${CAPS}/effective`]: ["CAP_KILL"], [`${CAPS}/permitted`]: ["CAP_KILL"] },
      at: `${CAPS}/effective/0`,
    },
  ),
  "ambient-not-inheritable": entry(
    "warning",
    "An ambient capability that is not permitted and inheritable",
    "capabilities(7)",
    "The kernel does not raise it, so runt leaves it out.",
    "add it to permitted and inheritable",
    {
      broken: { [`${CAPS}/ambient`]: ["CAP_KILL"] },
      fixed: { [`${CAPS}/ambient`]: ["CAP_KILL"], [`${CAPS}/permitted`]: ["CAP_KILL"], [`${CAPS}/inheritable`]: ["CAP_KILL"] },
      at: `${CAPS}/ambient/0`,
    },
  ),
  "capabilities-lost": entry(
    "advice",
    "Effective capabilities that are lost when the program is executed",
    "capabilities(7)",
    "After execve(2), a user other than root keeps only the ambient set and the capabilities of the file.",
    "add the needed capabilities to ambient, permitted and inheritable",
    {
      broken: { "/process/user/uid": 1000, [`${CAPS}/effective`]: ["CAP_KILL"], [`${CAPS}/permitted`]: ["CAP_KILL"] },
      fixed: {
        "/process/user/uid": 1000,
        [`${CAPS}/effective`]: ["CAP_KILL"],
        [`${CAPS}/permitted`]: ["CAP_KILL"],
        [`${CAPS}/inheritable`]: ["CAP_KILL"],
        [`${CAPS}/ambient`]: ["CAP_KILL"],
      },
      at: `${CAPS}/effective`,
    },
  ),
  "rlimit-unknown": entry(
    "error",
    "An unknown resource limit",
    "config.md#posix-process",
    "Linux has sixteen of them (getrlimit(2)).",
    "correct the name",
    {
      broken: { "/process/rlimits": [{ type: "RLIMIT_NOFILES", soft: 1, hard: 1 }] },
      fixed: { "/process/rlimits": [{ type: "RLIMIT_NOFILE", soft: 1024, hard: 1024 }] },
      at: "/process/rlimits/0/type",
    },
  ),
  "rlimit-duplicate": entry(
    "error",
    "A resource limit is given twice",
    "config.md#posix-process",
    "Each type may be given once.",
    "leave one of them out",
    {
      broken: {
        "/process/rlimits": [
          { type: "RLIMIT_CORE", soft: 0, hard: 0 },
          { type: "RLIMIT_CORE", soft: 1, hard: 1 },
        ],
      },
      at: "/process/rlimits/1/type",
    },
  ),
  "address-space-tiny": entry(
    "error",
    "An address space that is too small for any program",
    "getrlimit(2)",
    "execve(2) fails before the program starts.",
    "raise RLIMIT_AS, or leave it out",
    {
      broken: { "/process/rlimits": [{ type: "RLIMIT_AS", soft: 0, hard: 0 }] },
      fixed: { "/process/rlimits": [{ type: "RLIMIT_AS", soft: 1073741824, hard: 1073741824 }] },
      at: "/process/rlimits/0/soft",
    },
  ),
  "rlimit-order": entry("error", "A soft limit above the hard one", "getrlimit(2)", "The kernel refuses it.", "raise hard, or lower soft", {
    broken: { "/process/rlimits": [{ type: "RLIMIT_CORE", soft: 2, hard: 1 }] },
    at: "/process/rlimits/0/soft",
  }),
  "rlimit-nofile": entry(
    "error",
    "More open files than the kernel allows",
    "getrlimit(2)",
    "The hard limit of RLIMIT_NOFILE cannot be above fs.nr_open, not even for root.",
    "lower it, or raise fs.nr_open on the host",
    { broken: { "/process/rlimits": [{ type: "RLIMIT_NOFILE", soft: 1024, hard: 2097152 }] }, at: "/process/rlimits/0/hard" },
  ),
  "rlimit-raise": entry(
    "error",
    "A hard limit above the caller's, without the right to raise it",
    "getrlimit(2)",
    "Raising a hard limit needs CAP_SYS_RESOURCE.",
    "lower it to the caller's own limit",
    {
      broken: { "/process/rlimits": [{ type: "RLIMIT_NPROC", soft: 10, hard: 5000 }] },
      fixed: { "/process/rlimits": [{ type: "RLIMIT_NPROC", soft: 10, hard: 4000 }] },
      at: "/process/rlimits/0/hard",
      facts: { caller: { effective: [], rlimits: { RLIMIT_NPROC: ["4000", "4000"] } } },
    },
  ),
  "oom-score-range": entry("error", "oomScoreAdj out of range", "proc(5)", "The kernel accepts -1000 to 1000.", "use -1000 to 1000", {
    broken: { "/process/oomScoreAdj": 1001 },
    fixed: { "/process/oomScoreAdj": 1000 },
  }),
  "oom-score-lower": entry(
    "error",
    "oomScoreAdj below the caller's, without the right to lower it",
    "proc(5)",
    "Lowering it below the caller's value needs CAP_SYS_RESOURCE.",
    "raise it to the caller's value, or run the runtime with the capability",
    {
      broken: { "/process/oomScoreAdj": -500 },
      fixed: { "/process/oomScoreAdj": 500 },
      facts: { caller: { effective: [] } },
      files: { "/proc/self/oom_score_adj": { kind: "file", text: "0\n" } },
    },
  ),
  "scheduler-policy": entry(
    "error",
    "A missing or unknown scheduling policy",
    "config.md#linux-process",
    "scheduler needs one of the policies of sched(7).",
    "name a policy",
    {
      broken: { [SCHED]: { policy: "SCHED_FIF0" } },
      fixed: { [SCHED]: { policy: "SCHED_FIFO", priority: 1 } },
      at: `${SCHED}/policy`,
    },
  ),
  "scheduler-nice": entry("error", "A nice value out of range", "config.md#linux-process", "It is -20 to 19.", "use -20 to 19", {
    broken: { [SCHED]: { policy: "SCHED_OTHER", nice: 20 } },
    at: `${SCHED}/nice`,
  }),
  "scheduler-nice-ignored": entry(
    "warning",
    "A nice value without effect",
    "sched(7)",
    "It counts for SCHED_OTHER, SCHED_BATCH and SCHED_IDLE.",
    "leave it out",
    {
      broken: { [SCHED]: { policy: "SCHED_FIFO", priority: 1, nice: 5 } },
      at: `${SCHED}/nice`,
    },
  ),
  "scheduler-priority": entry(
    "error",
    "A priority that the policy does not have",
    "sched(7)",
    "SCHED_FIFO and SCHED_RR have 1 to 99, all others none.",
    "correct or remove it",
    {
      broken: { [SCHED]: { policy: "SCHED_FIFO", priority: 100 } },
      fixed: { [SCHED]: { policy: "SCHED_FIFO", priority: 99 } },
      at: `${SCHED}/priority`,
    },
  ),
  "scheduler-deadline": entry(
    "error",
    "Times that SCHED_DEADLINE refuses, or that another policy does not have",
    "sched(7)",
    "1024 ns <= runtime <= deadline <= period, all below 2^63; other policies have none of the three.",
    "correct the times, in nanoseconds",
    {
      broken: { [SCHED]: { policy: "SCHED_DEADLINE", runtime: 2000000, deadline: 1000000 } },
      fixed: { [SCHED]: { policy: "SCHED_DEADLINE", runtime: 1000000, deadline: 2000000 } },
      at: `${SCHED}/deadline`,
    },
  ),
  "scheduler-flag": entry(
    "error",
    "An unknown scheduler flag",
    "config.md#linux-process",
    "The kernel's names are in sched_setattr(2).",
    "correct the name",
    {
      broken: { [SCHED]: { policy: "SCHED_OTHER", flags: ["SCHED_FLAG_RESET"] } },
      at: `${SCHED}/flags/0`,
    },
  ),
  "io-priority-class": entry(
    "error",
    "A missing or unknown class of I/O priority",
    "config.md#linux-process",
    "ioprio_set(2) has three classes.",
    "name a class",
    {
      broken: { "/process/ioPriority": { class: "IOPRIO_CLASS_BEST", priority: 1 } },
      fixed: { "/process/ioPriority": { class: "IOPRIO_CLASS_BE", priority: 1 } },
      at: "/process/ioPriority/class",
    },
  ),
  "io-priority-rights": entry(
    "error",
    "A class of I/O priority that a user namespace may not have",
    "ioprio_set(2)",
    "IOPRIO_CLASS_RT needs CAP_SYS_NICE or CAP_SYS_ADMIN on the host, not in the container's user namespace.",
    "use IOPRIO_CLASS_BE",
    {
      broken: { ...USER_NAMESPACE, "/process/ioPriority": { class: "IOPRIO_CLASS_RT", priority: 4 } },
      fixed: { ...USER_NAMESPACE, "/process/ioPriority": { class: "IOPRIO_CLASS_BE", priority: 4 } },
      at: "/process/ioPriority/class",
    },
  ),
  "io-priority-missing": entry(
    "warning",
    "An I/O class without a priority",
    "config.md#linux-process",
    "It is required. As with runc and crun, a missing priority is 0, the highest of the class.",
    "use 0 to 7",
    {
      broken: { "/process/ioPriority": { class: "IOPRIO_CLASS_BE" } },
      fixed: { "/process/ioPriority": { class: "IOPRIO_CLASS_BE", priority: 4 } },
      at: "/process/ioPriority/priority",
    },
  ),
  "io-priority-level": entry("error", "An I/O priority out of range", "config.md#linux-process", "It is 0 (highest) to 7.", "use 0 to 7", {
    broken: { "/process/ioPriority": { class: "IOPRIO_CLASS_BE", priority: 8 } },
    at: "/process/ioPriority/priority",
  }),
  "apparmor-off": entry(
    "error",
    "An AppArmor profile on a host without AppArmor",
    "config.md#linux-process",
    "The process would run without the requested protection.",
    "leave it out, or enable AppArmor",
    {
      broken: { "/process/apparmorProfile": "web" },
      facts: { security: { apparmor: false } },
    },
  ),
  "apparmor-profile": entry(
    "error",
    "An AppArmor profile that is not loaded",
    "apparmor(7)",
    "The kernel refuses the change to it.",
    "load it with apparmor_parser(8)",
    {
      broken: { "/process/apparmorProfile": "wev" },
      fixed: { "/process/apparmorProfile": "web" },
      facts: { security: { apparmor: true } },
      files: { "/sys/kernel/security/apparmor/profiles": { kind: "file", text: "web (enforce)\n" } },
    },
  ),
  "selinux-off": entry(
    "error",
    "An SELinux label on a host without SELinux",
    "config.md#linux-process",
    "The process would run without the requested protection.",
    "leave it out, or enable SELinux",
    {
      broken: { "/process/selinuxLabel": "system_u:system_r:container_t:s0" },
      facts: { security: { selinux: false } },
    },
  ),
  "label-form": entry(
    "warning",
    "An SELinux label with a wrong form",
    "selinux(8)",
    "It has the form user:role:type:level.",
    "correct it",
    {
      broken: { "/process/selinuxLabel": "container_t" },
      fixed: { "/process/selinuxLabel": "system_u:system_r:container_t:s0" },
      facts: { security: { selinux: true } },
    },
  ),
};
