/** The process that becomes the program. */
import type { OpDefinition } from "../fields.ts";

export const PROCESS = {
  "process.oomScoreAdj": {
    id: 8,
    actors: ["runtime", "intermediate"],
    doc: "Write /proc/PID/oom_score_adj of init; exec: the intermediate writes its own, which init inherits.",
    fields: { value: "i64" },
  },
  "process.rlimit": {
    id: 9,
    actors: ["runtime", "init"],
    doc: "prlimit(2) on init, by number of the resource. init does it itself as the last thing before it gives up its rights; with a user namespace, where it has none, the runtime does after `ready`.",
    fields: { resource: "u32", soft: "u64", hard: "u64" },
  },
  "process.deathSignal": {
    id: 50,
    actors: ["init"],
    doc: "PR_SET_PDEATHSIG, kept across changes of user and capabilities; 0 clears it. When set, a parent that is already gone is an error. Outcome of 0 for the first process of a PID namespace that is going to wait for `start`: SIGHUP, SIGINT, SIGQUIT and SIGTERM end it until execve.",
    fields: { signal: "u32" },
  },
  "process.becomeRoot": {
    id: 52,
    actors: ["init"],
    doc: "setgroups to none where permitted (not with keepGroups), then setresgid and setresuid to 0: root of the user namespace.",
    fields: { keepGroups: "bool" },
  },
  "session.create": { id: 53, actors: ["init"], doc: "setsid(2).", fields: {} },
  "keyring.join": {
    id: 54,
    actors: ["init"],
    doc: "keyctl(KEYCTL_JOIN_SESSION_KEYRING). Outcome: ENOSYS, EPERM and EDQUOT are warnings.",
    fields: { name: "str" },
  },
  "process.umask": { id: 80, actors: ["init"], doc: "umask(2).", fields: { mask: "u32" } },
  "process.stdioOwner": {
    id: 81,
    actors: ["init"],
    doc: "fchown stdio to uid. Outcome: /dev/null is left alone; EPERM and EROFS are ignored.",
    fields: { uid: "u32" },
  },
  "process.noNewPrivileges": { id: 82, actors: ["init"], doc: "PR_SET_NO_NEW_PRIVS.", fields: {} },
  "process.user": {
    id: 84,
    actors: ["init"],
    doc: "PR_SET_KEEPCAPS, setgroups (if setgroups), setresgid, setresuid. Outcome of a user namespace that denies setgroups(2): the groups stay, with a warning if there are any.",
    fields: { uid: "u32", gid: "u32", groups: "u32s", setgroups: "bool" },
  },
  "process.cwd": {
    id: 86,
    actors: ["init"],
    doc: "chdir(2), then verify with getcwd(2) that the directory is inside the root.",
    fields: { path: "str" },
  },
  "process.home": {
    id: 87,
    actors: ["init"],
    doc: "Outcome for HOME, which the configuration leaves out: the home directory of uid in the container's /etc/passwd (regular file, bounded; links are followed inside the root), else /.",
    fields: { uid: "u32" },
  },
  "process.program": {
    id: 88,
    actors: ["init"],
    doc: "Find the program: a name with a slash as it is, else the first executable regular file along PATH. Errors: ENOENT (not found), EACCES (found, not executable).",
    fields: { name: "str", path: "str" },
  },
  "descriptors.sweep": {
    id: 89,
    actors: ["init"],
    doc: "Mark every descriptor from `first` up close-on-exec, and close the helper's own but the rendezvous socket, slot FIFO and the slots to keep.",
    fields: { first: "u32", keep: "u32s" },
  },
  "process.wait": { id: 90, actors: ["init"], doc: "Wait for one byte on slot FIFO, written by `start`.", fields: {} },
  "process.claim": {
    id: 151,
    actors: ["init"],
    doc: "Wait on slot FIFO for the message of `start` (src/shared/protocol/claim.ts): a plan of at most `most` bytes with operations of these numbers, and behind it the contents of the files that it names. It is checked whole, and carried out; process.exec of it takes the place of the plan's. A limit that it sets may not be above the one in force. Errors: EPROTO for what is no such message, and what its operations fail with.",
    fields: { operations: "u32s", most: "u32" },
  },
  "process.exec": {
    id: 91,
    actors: ["init"],
    doc: "execve(2) the program found, with args and env (plus the HOME found).",
    fields: { args: "strs", env: "strs" },
  },
  "process.affinity": {
    id: 113,
    actors: ["intermediate", "init"],
    doc: "sched_setaffinity(2) of this process to these CPUs.",
    fields: { cpus: "u32s" },
  },
  "process.scheduler": {
    id: 115,
    actors: ["init"],
    doc: "sched_setattr(2) of this process: SCHED_* policy, SCHED_FLAG_* flags, nice, static priority, and the nanoseconds of SCHED_DEADLINE.",
    fields: { policy: "u32", flags: "u32", nice: "i64", priority: "u32", runtime: "u64", deadline: "u64", period: "u64" },
  },
  "process.ioPriority": {
    id: 116,
    actors: ["init"],
    doc: "ioprio_set(2) of this process group: IOPRIO_CLASS_* and the level in it.",
    fields: { class: "u32", priority: "u32" },
  },
  "process.personality": { id: 117, actors: ["init"], doc: "personality(2): PER_LINUX or PER_LINUX32.", fields: { domain: "u32" } },
  "process.memoryPolicy": {
    id: 118,
    actors: ["init"],
    doc: "set_mempolicy(2): MPOL_* mode, MPOL_F_* flags, memory nodes.",
    fields: { mode: "u32", flags: "u32", nodes: "u32s" },
  },
} as const satisfies Record<string, OpDefinition>;

export const HOOKS = {
  "hook.run": {
    id: 100,
    actors: ["runtime", "init"],
    doc: "Run one hook: stdin is statePrefix, the pid of init as this actor sees it, stateSuffix. inheritEnv: its environment is the actor's, not env; home: plus the HOME that process.home found. Its working directory is cwd (runtime) or the directory of a slot (init), if given. timeout in seconds, 0 = none; after it SIGKILL. A status other than 0 is an error that carries status, stdout and stderr (4 KiB each); once nobody listens on the rendezvous any more, it is written to slot `report`. A hook that does not read stdin is fine. filtered (init): the hook, not init, gets the filter of seccomp.receive before its execve(2), with filterFlags and raise as seccomp.load has them.",
    fields: {
      kind: "str",
      index: "u32",
      path: "str",
      args: "strs",
      env: "strs",
      inheritEnv: "bool",
      home: "bool",
      timeout: "u32",
      cwd: "str",
      directory: "slot",
      report: "slot",
      filtered: "bool",
      filterFlags: "u32",
      raise: "bool",
      statePrefix: "str",
      stateSuffix: "str",
    },
  },
} as const satisfies Record<string, OpDefinition>;
