/**
 * The closed set of operations a plan is made of: the one place where they are defined.
 *
 * A plan is a list of operations. Every operation is executed by one actor:
 *   runtime  the TypeScript process (`bin/runt`)
 *   outer    the native helper before the clone: host view, host rights
 *   init     the native helper after the clone: becomes the container's process by execve
 * Each actor executes its own operations in list order; `sync.send`/`sync.wait` order them across actors.
 *
 * `tools/gen-ops.ts` turns this table into `build/gen/ops.h` (numbers, structs and bounded decoders),
 * so that the TypeScript and the C side cannot drift. Numbers are part of the wire form: append, never reuse.
 */

export type Actor = "runtime" | "outer" | "init";

/** Field types and their wire forms (little endian, unaligned):
 *  u32, bool: 4 bytes. u64, i64: 8 bytes. slot: u32 index into the helper's descriptor table (NO_SLOT = none).
 *  str: u32 length, bytes, one NUL. strs: u32 count, then str each. u32s: u32 count, then u32 each. */
export type FieldType = "u32" | "bool" | "u64" | "i64" | "slot" | "str" | "strs" | "u32s";

export interface OpDefinition {
  readonly id: number;
  readonly actors: readonly Actor[];
  readonly doc: string;
  readonly fields: Readonly<Record<string, FieldType>>;
}

/** The slot value that means "no descriptor". */
export const NO_SLOT = 0xffff_ffff;

/** Slots with a fixed meaning; compile numbers the others from FIRST_FREE up. */
export const SLOT = {
  /** O_PATH descriptor of the container's root mount. */
  ROOT: 0,
  /** Verified procfs of the host, O_PATH; opened before the pivot. */
  PROC: 1,
  /** Detached clone of the host's verified /dev/null, for masking files. */
  NULL: 2,
  /** exec.fifo of the state directory, O_RDWR. */
  FIFO: 3,
  /** Connected console socket. */
  CONSOLE: 4,
  FIRST_FREE: 5,
} as const;

/** Rendezvous messages on the SOCK_SEQPACKET pair between the runtime and the helper.
 *  Wire form: u32 type, u32 op (index in the plan), i32 errno, i32 value, u32 pathLength, u32 textLength, path, text.
 *  `pid` carries the pid in `value`; `console` carries one descriptor (SCM_RIGHTS) and the tty name in `text`. */
export const MESSAGES = {
  /** helper -> runtime: init exists; value = its pid as the runtime sees it. */
  pid: 1,
  /** runtime -> init: id maps are written, network devices are there: go on. */
  go: 2,
  /** init -> runtime: everything that can fail before execve is done; in a plan of run perhaps only all that has to do with mounts. */
  ready: 3,
  /** helper -> runtime: an operation failed; the helper exits after it. value = status of a child if there was one. */
  error: 4,
  /** helper -> runtime: an operation was skipped or reduced by its table of outcomes. */
  warning: 5,
  /** runtime -> init: state is on disk; the container no longer dies with the runtime. */
  commit: 6,
  /** init -> runtime: the console's master side. */
  console: 7,
  /** init -> runtime: mounts are made; the hooks of the runtime's namespaces may run. */
  hooks: 8,
  /** runtime -> init: they have run. */
  resume: 9,
  /** init -> runtime: the seccomp listener's descriptor. */
  listener: 10,
  /** runtime -> init: the cgroups are made and limited: join them. */
  cgroup: 11,
  /** runtime -> init: a descriptor of the seccomp filter's BPF program. */
  filter: 12,
  /** runtime -> outer: the plan's descriptor, for a helper that was started before there was a plan. */
  plan: 13,
  /** runtime -> outer, before the plan: which namespaces to make is told in the shared page (src/runtime/execute/progress.ts). */
  namespaces: 14,
} as const;
export type MessageName = keyof typeof MESSAGES;

/**
 * What `mount.bind` and `mount.filesystem` make when the target is absent. notFollowed: like the source, and a symlink at the end of the
 * path is itself the target. withMode: a directory, and the root of the mount takes the mode of the directory it covers if that was there.
 */
export const CREATE = { directory: 0, file: 1, likeSource: 2, never: 3, notFollowed: 4, withMode: 5 } as const;

const MOUNT_ATTRIBUTES = {
  /** MOUNT_ATTR_* to set and to clear on the mount itself. */
  attrSet: "u64",
  attrClear: "u64",
  /** The same, applied to the whole tree (AT_RECURSIVE). */
  recursiveSet: "u64",
  recursiveClear: "u64",
  /** MS_SHARED, MS_SLAVE, MS_PRIVATE or MS_UNBINDABLE, each with or without MS_REC; applied in order after attaching. */
  propagation: "u32s",
} as const satisfies Record<string, FieldType>;

export const OPS = {
  // ---- runtime -------------------------------------------------------------------------------------------------
  "state.intent": {
    id: 1,
    actors: ["runtime"],
    doc: "Create the state directory exclusively, lock it, and record everything a later delete --force may have to undo.",
    fields: { directory: "str" },
  },
  "fifo.create": {
    id: 2,
    actors: ["runtime"],
    doc: "mkfifo with this mode; `start` writes to it.",
    fields: { path: "str", mode: "u32", uid: "u32", gid: "u32" },
  },
  "cgroup.create": {
    id: 3,
    actors: ["runtime"],
    doc: "Make one cgroup directory and every missing level above it; new levels above it are marked (extended attribute trusted.runt), the container's first directory with state root and id (trusted.runt.container), and in a v1 cpuset hierarchy new levels get their parent's cpus and mems.",
    fields: { path: "str" },
  },
  "cgroup.write": { id: 4, actors: ["runtime"], doc: "Write a value to a cgroup file.", fields: { path: "str", value: "str" } },
  "cgroup.devices": {
    id: 5,
    actors: ["runtime"],
    doc: "Attach the eBPF device program compiled from these rules (type:major:minor:access:allow|deny) to a v2 cgroup.",
    fields: { path: "str", rules: "strs" },
  },
  "cgroup.delegate": {
    id: 135,
    actors: ["runtime"],
    doc: "Give a v2 cgroup to a user of the host: the directory and the files named in /sys/kernel/cgroup/delegate (without that file: cgroup.procs, cgroup.subtree_control, cgroup.threads). Outcomes: a listed file that is absent is skipped; a caller without the right to gives a warning.",
    fields: { path: "str", uid: "u32" },
  },
  "root.bind": {
    id: 151,
    actors: ["runtime"],
    doc: "A container that shares the caller's mount namespace, and mounts: bind the root file system on itself. The identity of the mount is recorded before it is attached. All other mounts are made in it, and whatever undoes the container detaches this one, with all of them. Without open_tree(2) and move_mount(2) it is an error.",
    fields: { path: "str" },
  },
  "helper.spawn": {
    id: 6,
    actors: ["runtime"],
    doc: "Start the helper from a sealed memfd with the plan in a mapped memfd. It may use every processor that its cpusets allow, whatever the caller may. create and run start it first of all; a new network namespace (with lo up), init and its usual file systems may be made before there is a plan, which it then gets as a message. exec with cgroup v2: inside this cgroup (CLONE_INTO_CGROUP), where what it clones stays; later, inside the container's namespaces, the kernel may refuse to go there.",
    fields: { cgroup: "str" },
  },
  "idmap.write": {
    id: 7,
    actors: ["runtime"],
    doc: "Write setgroups, gid_map and uid_map of init; triples are container id, host id, size. With gidProgram or uidProgram that setuid program (newgidmap(1), newuidmap(1)) writes the map, and setgroups is its business.",
    fields: { uidMap: "u32s", gidMap: "u32s", setgroups: "bool", uidProgram: "str", gidProgram: "str" },
  },
  "process.oomScoreAdj": {
    id: 8,
    actors: ["runtime", "outer"],
    doc: "Write /proc/PID/oom_score_adj of init; exec: outer writes its own, which init inherits.",
    fields: { value: "i64" },
  },
  "process.rlimit": {
    id: 9,
    actors: ["runtime", "init"],
    doc: "prlimit(2) on init, by number of the resource. init does it itself as the last thing before it gives up its rights; with a user namespace, where it has none, the runtime does after `ready`.",
    fields: { resource: "u32", soft: "u64", hard: "u64" },
  },
  "state.commit": {
    id: 10,
    actors: ["runtime"],
    doc: "Write state.json (temp + rename) with pid and start time.",
    fields: { directory: "str" },
  },
  "pidfile.write": { id: 11, actors: ["runtime"], doc: "Write the pid without newline (temp + rename).", fields: { path: "str" } },
  "pidfd.send": {
    id: 140,
    actors: ["runtime"],
    doc: "Connect to a unix stream socket by path and send a pidfd of init with this text.",
    fields: { path: "str", text: "str" },
  },
  "notify.prepare": {
    id: 141,
    actors: ["runtime"],
    doc: "Make the directory of the container's notification socket (0755). listen: also bind the socket in it (datagram, 0777) and connect to the host's, a path or @name; for a created container `start` does.",
    fields: { directory: "str", listen: "bool", host: "str" },
  },

  // ---- rendezvous ----------------------------------------------------------------------------------------------
  "sync.send": { id: 20, actors: ["runtime", "outer", "init"], doc: "Send a rendezvous message.", fields: { message: "u32" } },
  "sync.wait": {
    id: 21,
    actors: ["runtime", "init"],
    doc: "Wait for a rendezvous message; end of file means the peer is gone.",
    fields: { message: "u32" },
  },

  // ---- outer ---------------------------------------------------------------------------------------------------
  "file.open": {
    id: 30,
    actors: ["outer", "init"],
    doc: "open(2) a host path into a slot (O_CLOEXEC is added; a file that it makes has mode 0600).",
    fields: { path: "str", flags: "u32", slot: "slot" },
  },
  "proc.open": {
    id: 31,
    actors: ["outer", "init"],
    doc: "Open the host's /proc O_PATH into slot PROC and verify it is the root of a procfs.",
    fields: {},
  },
  "cgroup.open": {
    id: 32,
    actors: ["outer", "init"],
    doc: "Open cgroup v1 `tasks` files (O_WRONLY) into consecutive slots; in a user namespace outer does, for its credentials count (cgroup_procs_write_permission).",
    fields: { files: "strs", slot: "slot" },
  },
  "cgroup.openDirectory": {
    id: 33,
    actors: ["outer"],
    doc: "Open a cgroup v2 directory (O_PATH|O_DIRECTORY) for CLONE_INTO_CGROUP.",
    fields: { path: "str", slot: "slot" },
  },
  "cgroup.openTree": {
    id: 144,
    actors: ["init"],
    doc: "mount.open of a cgroup directory, as soon as the runtime has made this many of the container's cgroups. A word of the memory shared with it tells so, or the message `cgroup` does.",
    fields: { path: "str", slot: "slot", made: "u32" },
  },
  "namespace.join": {
    id: 34,
    actors: ["outer"],
    doc: "Open a namespace file, verify its type and setns(2) into it. Outcome: joining the user namespace one is already in is skipped.",
    fields: { flag: "u32", path: "str" },
  },
  "namespace.unshare": { id: 35, actors: ["outer", "init"], doc: "unshare(2) with these CLONE_NEW* flags.", fields: { flags: "u32" } },
  "time.offsets": {
    id: 36,
    actors: ["outer"],
    doc: "Write /proc/self/timens_offsets after the unshare and before the clone.",
    fields: { monotonicSeconds: "i64", monotonicNanoseconds: "u32", boottimeSeconds: "i64", boottimeNanoseconds: "u32" },
  },
  "console.connect": {
    id: 37,
    actors: ["outer"],
    doc: "Connect to a unix stream socket by path (any length) into slot CONSOLE.",
    fields: { path: "str" },
  },
  "mount.open": {
    id: 38,
    actors: ["outer", "init"],
    doc: "open_tree(OPEN_TREE_CLONE) of a host path into a slot: a detached copy of the mount, with submounts if recursive. Outcome of EACCES and EINVAL (mounts that are locked below it) in init, where there is a source.serve: that opens it; without submounts from the host's mount namespace, if the mount has no flag that would have to be locked.",
    fields: { source: "str", recursive: "bool", slot: "slot" },
  },
  "mask.open": {
    id: 39,
    actors: ["outer", "init"],
    doc: "Open the host's /dev/null, verify it is the character device 1:3, and keep a detached clone of it in slot NULL.",
    fields: {},
  },
  "process.clone": {
    id: 40,
    actors: ["outer"],
    doc: "clone3(2) with these CLONE_NEW* flags, CLONE_PARENT and exit_signal 0, into the cgroup of `cgroup` if given (v2). The child goes on as init; outer sends `pid` and exits 0.",
    fields: { flags: "u32", cgroup: "slot" },
  },

  // ---- init: before the pivot ----------------------------------------------------------------------------------
  "process.deathSignal": {
    id: 50,
    actors: ["init"],
    doc: "PR_SET_PDEATHSIG, kept across changes of user and capabilities; 0 clears it. When set, a parent that is already gone is an error. Outcome of 0 for the first process of a PID namespace that is going to wait for `start`: SIGHUP, SIGINT, SIGQUIT and SIGTERM end it until execve.",
    fields: { signal: "u32" },
  },
  "cgroup.join": {
    id: 51,
    actors: ["outer", "init"],
    doc: "Write 0 to each opened tasks file (exec with an initial CPU affinity on v2: cgroup.procs) and close it.",
    fields: { slot: "slot", count: "u32" },
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
  "loopback.up": { id: 55, actors: ["init"], doc: "Set IFF_UP on lo of a new network namespace, if it is not set yet.", fields: {} },
  "hostname.set": { id: 56, actors: ["init"], doc: "sethostname(2).", fields: { name: "str" } },
  "domainname.set": { id: 57, actors: ["init"], doc: "setdomainname(2).", fields: { name: "str" } },
  "root.propagation": {
    id: 58,
    actors: ["init"],
    doc: "Change the propagation of / of the mount namespace before anything is mounted (MS_* flags).",
    fields: { flags: "u32" },
  },
  "root.open": {
    id: 59,
    actors: ["init"],
    doc: "Make the mount below the root filesystem private, bind the root filesystem onto itself (recursively), and open the new mount O_PATH into slot ROOT. The path may not end in a symlink. inPlace: only open it, in a mount namespace that outlives the container.",
    fields: { path: "str", inPlace: "bool" },
  },
  "mount.bind": {
    id: 60,
    actors: ["init"],
    doc: "Attach the detached mount of a slot at a path inside the root, resolved in the root and made if missing (0755 directory, or empty file). Outcome of CREATE.likeSource: a directory for a directory, a file for anything else. Outcome of a slot that holds a link to copy (mount.openLink): the link is made, an existing one with the same text is kept, anything else existing is an error. attrDrop: more MOUNT_ATTR_* bits to clear, that nobody named. Outcome where flags of the source are locked (mount_namespaces(7)): those of attrDrop stay, one of attrClear or another access time is an error.",
    fields: { slot: "slot", target: "str", create: "u32", attrDrop: "u64", ...MOUNT_ATTRIBUTES },
  },
  "mount.filesystem": {
    id: 61,
    actors: ["init"],
    doc: "Make a new filesystem instance (fsopen, fsconfig, fsmount; mount(2) where they are refused) and attach it inside the root. data: key or key=value each. superFlags: MS_RDONLY, MS_SYNCHRONOUS, MS_DIRSYNC, MS_LAZYTIME, ... of the superblock. inheritMode: a tmpfs takes the mode of the directory it covers, unless data has mode= or that directory was missing and is made. ordinaryDirectory: the target must be reached without any symlink (proc, sysfs).",
    fields: {
      fstype: "str",
      source: "str",
      target: "str",
      data: "strs",
      superFlags: "u64",
      inheritMode: "bool",
      ordinaryDirectory: "bool",
      ...MOUNT_ATTRIBUTES,
    },
  },
  "mount.remount": {
    id: 62,
    actors: ["init"],
    doc: "Change the attributes of the mount that is already at the path; with superblock also its superblock (MS_REMOUNT with data).",
    fields: { target: "str", superblock: "bool", data: "strs", superFlags: "u64", ...MOUNT_ATTRIBUTES },
  },
  "directory.create": { id: 63, actors: ["init"], doc: "mkdir -p inside the root.", fields: { path: "str", mode: "u32" } },
  "symlink.create": {
    id: 64,
    actors: ["init"],
    doc: "Make a symlink inside the root. Outcome: an existing link with the same text is kept, any other existing symlink or file: replace decides between replacing it and failing.",
    fields: { path: "str", text: "str", replace: "bool" },
  },
  "device.create": {
    id: 65,
    actors: ["init"],
    doc: "mknodat inside the root (type S_IFCHR, S_IFBLK or S_IFIFO), re-open without following links, verify type and numbers, then fchmod and fchown. Outcome: an existing node with the right type and numbers is kept; anything else existing is an error. Nothing is made in a /dev that a symlink leads to (a volume may be behind it); so symlink.create, device nodes that are bound, and /dev/console.",
    fields: { path: "str", type: "u32", major: "u32", minor: "u32", mode: "u32", uid: "u32", gid: "u32" },
  },
  "console.open": {
    id: 66,
    actors: ["init"],
    doc: "Open a new pty of the container's devpts (verified, no links followed), set the window size if not 0, give the slave to uid, bind it on /dev/console (if bindConsole), send the master to slot CONSOLE (or as message `console` when `slot` is NO_SLOT), make it the controlling terminal and stdio. A terminal of the runtime's own (NO_SLOT) leaves newlines as they are (ONLCR off).",
    fields: { slot: "slot", rows: "u32", columns: "u32", uid: "u32", bindConsole: "bool" },
  },

  // ---- init: the pivot and after -------------------------------------------------------------------------------
  "root.pivot": { id: 70, actors: ["init"], doc: "pivot_root(2) onto slot ROOT and detach the old root.", fields: {} },
  "root.move": {
    id: 71,
    actors: ["init"],
    doc: "--no-pivot: unmount or cover every procfs and sysfs outside the root filesystem, MS_MOVE it to / and chroot.",
    fields: {},
  },
  "root.finalPropagation": {
    id: 72,
    actors: ["init"],
    doc: "Set the propagation of the new root mount (linux.rootfsPropagation).",
    fields: { flags: "u32" },
  },
  "root.readonly": { id: 73, actors: ["init"], doc: "Make the root mount (not the mounts below it) read-only.", fields: {} },
  "sysctl.write": {
    id: 74,
    actors: ["init"],
    doc: "Write a value below /proc/sys through slot PROC, without links or mount crossings.",
    fields: { key: "str", value: "str" },
  },
  "path.readonly": {
    id: 75,
    actors: ["init"],
    doc: "Bind a path onto itself recursively and make it and every mount below it read-only. Outcomes: a missing path is skipped; without mount_setattr(2) the mounts below stay as they are, with a warning.",
    fields: { path: "str" },
  },
  "root.enter": {
    id: 77,
    actors: ["init"],
    doc: "chroot(2) into slot ROOT: for a joined mount namespace, where pivot_root would move the root of its other processes.",
    fields: {},
  },
  "path.mask": {
    id: 76,
    actors: ["init"],
    doc: "Hide a path: a directory behind one shared read-only empty tmpfs, anything else behind /dev/null. Outcome: a missing path is skipped.",
    fields: { path: "str" },
  },

  // ---- init: the process ---------------------------------------------------------------------------------------
  "process.umask": { id: 80, actors: ["init"], doc: "umask(2).", fields: { mask: "u32" } },
  "process.stdioOwner": {
    id: 81,
    actors: ["init"],
    doc: "fchown stdio to uid. Outcome: /dev/null is left alone; EPERM and EROFS are ignored.",
    fields: { uid: "u32" },
  },
  "process.noNewPrivileges": { id: 82, actors: ["init"], doc: "PR_SET_NO_NEW_PRIVS.", fields: {} },
  "capability.bounding": {
    id: 83,
    actors: ["init"],
    doc: "Drop every capability that is not in the mask from the bounding set.",
    fields: { mask: "u64" },
  },
  "process.user": {
    id: 84,
    actors: ["init"],
    doc: "PR_SET_KEEPCAPS, setgroups (if setgroups), setresgid, setresuid. Outcome of a user namespace that denies setgroups(2): the groups stay, with a warning if there are any.",
    fields: { uid: "u32", gid: "u32", groups: "u32s", setgroups: "bool" },
  },
  "capability.set": {
    id: 85,
    actors: ["init"],
    doc: "capset(2) and the ambient set. Outcome: what init itself does not hold is left out with a warning, also of the bounding set that it was to have; an ambient capability that cannot be raised is a warning.",
    fields: { bounding: "u64", effective: "u64", permitted: "u64", inheritable: "u64", ambient: "u64" },
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
  "process.exec": {
    id: 91,
    actors: ["init"],
    doc: "execve(2) the program found, with args and env (plus the HOME found).",
    fields: { args: "strs", env: "strs" },
  },

  // ---- hooks, security, exec -----------------------------------------------------------------------------------
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
  "seccomp.prepare": {
    id: 101,
    actors: ["runtime"],
    doc: "Compile the profile (canonical text, src/runtime/plan/compile/seccomp-profile.ts) to BPF, or take it from the cache, into this file. enosysForNewer: system calls with a higher number than every one of the profile give ENOSYS. Outcome: names that libseccomp does not know are left out with a warning; a cache that cannot be used is passed over.",
    fields: { profile: "str", enosysForNewer: "bool", path: "str" },
  },
  "seccomp.load": {
    id: 102,
    actors: ["init"],
    doc: "Load the BPF program that seccomp.receive has read, with SECCOMP_FILTER_FLAG_* flags. What process.exec needs beside execve(2) is done before. raise: CAP_SYS_ADMIN of the permitted set becomes effective first. listener: send the notification descriptor to the runtime (message `listener`).",
    fields: { flags: "u32", raise: "bool", listener: "bool" },
  },
  "seccomp.notify": {
    id: 103,
    actors: ["runtime"],
    doc: "Connect to the unix stream socket of linux.seccomp.listenerPath and send the container process state with the listener's descriptor.",
    fields: { path: "str", metadata: "str" },
  },
  "label.set": {
    id: 104,
    actors: ["init"],
    doc: "Write an LSM attribute of this process through slot PROC: attr/FILE, or where that is absent attr/FALLBACK (if given).",
    fields: { file: "str", fallback: "str", value: "str" },
  },
  "namespace.enter": {
    id: 105,
    actors: ["outer"],
    doc: "setns(2) into several namespaces of one process at once, by its pidfd; the start time (clock ticks) guards against a reused pid.",
    fields: { pid: "u32", startTime: "u64", flags: "u32" },
  },
  "root.current": {
    id: 106,
    actors: ["init"],
    doc: "Open a path of the joined mount namespace (/, or the root filesystem of a container without a mount namespace of its own) O_PATH into slot ROOT, and chdir to it.",
    fields: { path: "str" },
  },
  "sync.end": {
    id: 107,
    actors: ["runtime"],
    doc: "Wait until execve has closed init's side of the rendezvous; a message instead says why it did not happen.",
    fields: {},
  },
  "mount.cgroup": {
    id: 108,
    actors: ["init"],
    doc: "Mount cgroup2 inside the root: it shows what the cgroup namespace shows. Outcome of EPERM and EBUSY (the user namespace does not own the cgroup namespace): the directory of the slot is bound, or without a slot an empty read-only tmpfs covers the place.",
    fields: { target: "str", slot: "slot", ...MOUNT_ATTRIBUTES },
  },
  "seccomp.receive": {
    id: 109,
    actors: ["init"],
    doc: "Wait for message `filter` and read the BPF program of its descriptor (8 bytes an instruction, at most 4096 of them) into memory.",
    fields: {},
  },
  "capability.drop": {
    id: 110,
    actors: ["init"],
    doc: "capset(2): take these capabilities out of the effective and the permitted set.",
    fields: { effective: "u64", permitted: "u64" },
  },
  "directory.open": {
    id: 111,
    actors: ["init"],
    doc: "Open a directory inside the root that a mount is about to cover. Outcome of an absent one: the slot stays empty.",
    fields: { path: "str", slot: "slot" },
  },
  "directory.copy": {
    id: 112,
    actors: ["init"],
    doc: "Copy files, directories and links of the slot's directory, with owner and mode, into the directory that is at the path now; close the slot. Outcomes: an empty slot is nothing to copy; special files are left out with a warning; an owner that is not mapped is left out; where something else than what covers that directory is at the path now, an error.",
    fields: { slot: "slot", path: "str" },
  },
  "process.affinity": {
    id: 113,
    actors: ["outer", "init"],
    doc: "sched_setaffinity(2) of this process to these CPUs.",
    fields: { cpus: "u32s" },
  },
  "seccomp.send": {
    id: 114,
    actors: ["runtime"],
    doc: "Send a descriptor of this BPF program to init (message `filter`).",
    fields: { path: "str" },
  },

  // ---- how the kernel treats the process -----------------------------------------------------------------------
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
  "resctrl.prepare": {
    id: 119,
    actors: ["runtime"],
    doc: "Have this group of the mounted resctrl (empty: the default group). Outcomes: an absent one is made with `create` (without it an error) and gets the schemata, one line a write; one that is there must have them already.",
    fields: { mount: "str", group: "str", create: "bool", schemata: "strs" },
  },
  "resctrl.join": {
    id: 120,
    actors: ["runtime"],
    doc: "Write the pid of init to the group's tasks file.",
    fields: { mount: "str", group: "str" },
  },
  "resctrl.monitor": {
    id: 121,
    actors: ["runtime"],
    doc: "Make this monitoring group; one that is there is an error.",
    fields: { mount: "str", group: "str" },
  },
  "netdevice.move": {
    id: 127,
    actors: ["runtime"],
    doc: "Move a network device of the runtime's network namespace to init's, give it this name there (a template with one %d is completed by the kernel), its permanent addresses of global scope as they are read now, and set it up. Outcome of a name that is taken there: an error, before the device is touched. namespace: path of a namespace that is joined, from which a later delete --force can bring the device back; empty for a new one.",
    fields: { device: "str", name: "str", namespace: "str" },
  },
  "idmap.open": {
    id: 122,
    actors: ["outer"],
    doc: "Open a user namespace that has these maps into a slot, for mount.idmap; triples are id in the filesystem, host id, size. The process it is made with is gone when the operation ends.",
    fields: { uidMap: "u32s", gidMap: "u32s", slot: "slot" },
  },
  "mount.idmap": {
    id: 123,
    actors: ["outer", "init"],
    doc: "Map the ids of a detached mount by the user namespace of a slot (MOUNT_ATTR_IDMAP), with recursive those of the mounts below it too. Outcome: a link to copy has no ids to map.",
    fields: { slot: "slot", userNamespace: "slot", recursive: "bool" },
  },
  "mount.make": {
    id: 124,
    actors: ["outer", "init"],
    doc: "Make a new filesystem instance as mount.filesystem does, and keep its detached mount in a slot.",
    fields: { fstype: "str", source: "str", data: "strs", superFlags: "u64", attrSet: "u64", slot: "slot" },
  },
  "mount.openLink": {
    id: 125,
    actors: ["outer", "init"],
    doc: "As mount.open, but a symlink at the end of the path is not followed: it is itself what is bound, or with copy what mount.bind makes a copy of.",
    fields: { source: "str", recursive: "bool", copy: "bool", slot: "slot" },
  },
  "source.serve": {
    id: 150,
    actors: ["outer"],
    doc: "Start a process that opens sources of binds, and maps the ids of mounts, for an init in a user namespace: with the rights of the host, in init's mount namespace, when init's mount.open, mount.openLink or mount.idmap asks. It ends when init enters its root, and outer with it.",
    fields: {},
  },
  "mount.propagation": {
    id: 142,
    actors: ["outer"],
    doc: "Change the propagation of a slot's detached mount and of all below it (MS_* flags), so that it is no peer of the host's mounts when it appears in a running container. Outcome where open_tree(2) or mount_setattr(2) is refused: an error.",
    fields: { slot: "slot", flags: "u32" },
  },
  "mount.detach": {
    id: 143,
    actors: ["init"],
    doc: "umount2(2) with MNT_DETACH of the mount that is at the path, resolved in the root without any symlink. Errors: EINVAL when the path is not the root of a mount, or is that of the container's root.",
    fields: { target: "str" },
  },
  "device.open": {
    id: 126,
    actors: ["outer"],
    doc: "Make a device node with the rights of the host on a tmpfs of its own, and keep a detached mount of the node in a slot, for a user namespace, where mknod(2) is refused. uid and gid are host ids. Outcome where the newer system calls are refused: the host's node at the path is opened, with a warning.",
    fields: { path: "str", type: "u32", major: "u32", minor: "u32", mode: "u32", uid: "u32", gid: "u32", slot: "slot" },
  },
  "idmap.verify": {
    id: 128,
    actors: ["runtime"],
    doc: "Compare the maps of the user namespace that init has joined with these triples, in any order; a difference is an error.",
    fields: { uidMap: "u32s", gidMap: "u32s" },
  },

  // ---- cgroups by systemd --------------------------------------------------------------------------------------
  "systemd.startUnit": {
    id: 130,
    actors: ["runtime"],
    doc: "StartTransientUnit with these properties (NAME=VALUE, the value as GVariant text) and, if withInit, PIDs with the pid of init; wait for the job, at most 30 s. socket: of the manager itself if direct, else of a D-Bus bus. Outcome of UnitExists: ResetFailedUnit and one more try.",
    fields: { unit: "str", properties: "strs", withInit: "bool", socket: "str", direct: "bool" },
  },
  "cgroup.attach": {
    id: 131,
    actors: ["runtime"],
    doc: "Write init's pid to `tasks` or `cgroup.procs` files: the hierarchies that systemd has not moved it in.",
    fields: { files: "strs" },
  },
  "systemd.attach": {
    id: 132,
    actors: ["runtime"],
    doc: "exec by a user without the right to move processes: AttachProcessesToUnit with init's pid, into the cgroup at `path` below the unit's.",
    fields: { unit: "str", path: "str", socket: "str", direct: "bool" },
  },
} as const satisfies Record<string, OpDefinition>;

export type OpName = keyof typeof OPS;

interface FieldValue {
  u32: number;
  bool: boolean;
  u64: bigint;
  i64: bigint;
  slot: number;
  str: string;
  strs: readonly string[];
  u32s: readonly number[];
}

type FieldsOf<K extends OpName> = (typeof OPS)[K]["fields"];
export type OpArgs<K extends OpName> = { readonly [F in keyof FieldsOf<K>]: FieldValue[FieldsOf<K>[F] & FieldType] };

/** The phases a printed plan is grouped by. */
export type Phase =
  | "host"
  | "spawn"
  | "cgroups"
  | "namespaces"
  | "rootfs"
  | "mounts"
  | "devices"
  | "hooks"
  | "pivot"
  | "process"
  | "commit";

/** One operation: what, who, when, with which arguments, and the JSON pointer in config.json it comes from. */
export type Op<K extends OpName = OpName> = {
  [N in K]: { readonly op: N; readonly actor: Actor; readonly phase: Phase; readonly from: string; readonly args: OpArgs<N> };
}[K];

export const PLAN_VERSION = 1;

export interface Plan {
  readonly version: typeof PLAN_VERSION;
  /** Container id. */
  readonly id: string;
  /** Number of descriptor slots the helper needs. */
  readonly slots: number;
  readonly ops: readonly Op[];
}
