/**
 * The system calls that each operation stands for: those that change something, or open what others act on. What only looks (fstat,
 * statfs, readlink, close, memory of its own) is left out. Pure.
 *
 * Notation: `$field` is a field of the operation, `_` an argument that only shows while acting (a descriptor, an address, a length), `*`
 * any part of a text;
 * `{name=value}` these members of a structure. In front: `?` only in some outcome of the operation's doc string, or with some values of its
 * fields; `+` once or more often; `>` in the process that the operation makes; `<` perhaps earlier, while the actor would only wait.
 * test/e2e/plan-calls.test.ts holds it against what strace(1) sees.
 */

import { NO_SLOT, type OpArgs, type OpName } from "../../shared/protocol/index.ts";
import { messageName, namespaceNames } from "./names.ts";
import type { Op } from "./plan.ts";

const FIND = "+openat2(_, $path, _)";
const TARGET = "+openat2(_, $target, _)";
/** What makes the missing levels of a path below the root. */
const MAKE_LEVELS = ["?+mkdirat(_, _, _)"] as const;
const MAKE_TARGET = [TARGET, ...MAKE_LEVELS, "?openat(_, _, O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW|O_NONBLOCK)"] as const;
/** Of a process that source.serve has left behind, and of init which asks it. */
const ASKED = ["?+sendmsg(_, _)", "?+recvmsg(_, _)", "?+setns(_, CLONE_NEWNS)"] as const;
const NEW_FILESYSTEM = [
  "fsopen($fstype, FSOPEN_CLOEXEC)",
  '?fsconfig(_, FSCONFIG_SET_STRING, "source", $source, 0)',
  "?+fsconfig(_, FSCONFIG_SET_STRING, $data, $data, 0)",
  "?+fsconfig(_, FSCONFIG_SET_FLAG, _, NULL, 0)",
  "fsconfig(_, FSCONFIG_CMD_CREATE, NULL, NULL, 0)",
  "fsmount(_, FSMOUNT_CLOEXEC, $attrSet)",
] as const;
const ATTACH = [
  '?mount_setattr(_, "", AT_EMPTY_PATH, {attr_set=$attrSet, attr_clr=$attrClear})',
  '?mount_setattr(_, "", AT_EMPTY_PATH|AT_RECURSIVE, {attr_set=$recursiveSet, attr_clr=$recursiveClear})',
  '?+mount_setattr(_, "", _, {attr_set=0, attr_clr=0, propagation=$propagation})',
  '?mount_setattr(_, "", AT_EMPTY_PATH|AT_RECURSIVE, {attr_set=0, attr_clr=0, propagation=MS_SLAVE})',
  'move_mount(_, "", _, "", MOVE_MOUNT_F_EMPTY_PATH|MOVE_MOUNT_T_EMPTY_PATH)',
] as const;
const OPTIONAL_ATTACH = ATTACH.map((call) => `?${call.replace(/^\?/, "")}`);
/** The record of state.commit: written while `ready` is waited for, renamed after it. */
const RECORD = ['?openat(AT_FDCWD, "*/state.json.new", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW)', "?write(_, _)"] as const;
const UNIT = ["?connect(_, $socket)", "+sendmsg(_, _)", "+recvmsg(_, _)"] as const;

const CALLS: Readonly<Record<OpName, readonly string[]>> = {
  "state.intent": [
    "?+mkdir(_, 0700)",
    '?+lsetxattr(_, "*.runt.root", _)',
    "mkdir($directory, 0711)",
    "flock(_, LOCK_EX|LOCK_NB)",
    'openat(AT_FDCWD, "*/state.json.new", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW)',
    '?openat(AT_FDCWD, "*/config.json", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW)',
    "+write(_, _)",
    'rename(_, "*/state.json")',
  ],
  "fifo.create": ["mkfifo($path, $mode)", "chmod($path, $mode)"],
  "cgroup.create": [
    "+mkdir(_, 0755)",
    '?+setxattr(_, "trusted.runt", _)',
    '?setxattr(_, "trusted.runt.container", _)',
    '?+openat(AT_FDCWD, "*/cpuset.*", O_WRONLY)',
    '?+openat(AT_FDCWD, "*/cgroup.subtree_control", O_WRONLY)',
    "?+write(_, _)",
  ],
  // The file is still open from the operation before, when that has written to it too.
  "cgroup.write": ["?openat(AT_FDCWD, $path, O_WRONLY)", "write(_, $value)"],
  "cgroup.devices": ["bpf(BPF_PROG_LOAD, _)", "?bpf(BPF_PROG_QUERY, _)", "bpf(BPF_PROG_ATTACH, _)", "?+bpf(BPF_PROG_DETACH, _)"],
  "cgroup.delegate": ["+chown(_, $uid, _)"],
  "helper.spawn": [
    '<memfd_create("runt-progress", _)',
    "<ftruncate(_, 4096)",
    "?+memfd_create(_, _)",
    "?+write(_, _)",
    "<socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0)",
    "?clone3(_)",
    "<?vfork()",
    "<?sched_getaffinity(0, _, _)",
    "<?sched_setaffinity(_, _, _)",
    "<?sendmsg(_, _)",
    "?sendmsg(_, _)",
    ">?prctl(PR_SET_PDEATHSIG, SIGKILL)",
    ">?+write(_, _)",
    '>execveat(_, "", _, _, AT_EMPTY_PATH)',
    ">?unshare(_)",
    ">?ioctl(_, SIOCSIFFLAGS, _)",
    ">?+sched_setaffinity(0, _, _)",
    ">?umask(0)",
  ],
  "idmap.write": ["?+openat(AT_FDCWD, _, O_WRONLY)", '?write(_, "deny")', "?write(_, $gidMap)", "?write(_, $uidMap)", "?+execve(_, _, _)"],
  "process.oomScoreAdj": ["openat(_, _, O_WRONLY)", "write(_, $value)"],
  "process.rlimit": ["prlimit64(_, $resource, {rlim_cur=$soft, rlim_max=$hard}, NULL)"],
  "state.commit": [...RECORD, "rename(_, _)"],
  // More than one where something has the name that is tried first.
  "pidfile.write": ["+openat(AT_FDCWD, _, O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW)", "write(_, _)", "rename(_, $path)"],
  "pidfd.send": ["pidfd_open(_, 0)", "socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0)", "connect(_, $path)", "sendmsg(_, _)"],
  "notify.prepare": [
    "mkdir($directory, 0755)",
    "chmod($directory, 0755)",
    "?+socket(AF_UNIX, SOCK_DGRAM|SOCK_CLOEXEC, 0)",
    "?connect(_, $host)",
    "?bind(_, _)",
    "?chmod(_, 0777)",
  ],
  "sync.send": ["sendmsg(_, _)"],
  "sync.wait": ["recvmsg(_, _)", "?prctl(PR_SET_DUMPABLE, 0)", ...RECORD],
  "file.open": ["openat(AT_FDCWD, $path, $flags)"],
  "proc.open": ['openat(AT_FDCWD, "/proc", O_PATH|O_DIRECTORY|O_NOFOLLOW)'],
  "cgroup.open": ["+openat(AT_FDCWD, $files, O_WRONLY)"],
  "cgroup.openDirectory": ["openat(AT_FDCWD, $path, O_PATH|O_DIRECTORY)"],
  "cgroup.openTree": ["?recvmsg(_, _)", "+open_tree(AT_FDCWD, $path, _)", "?openat(AT_FDCWD, $path, O_PATH)"],
  "namespace.join": ["openat(AT_FDCWD, $path, O_RDONLY|O_NONBLOCK|O_NOCTTY)", "?setns(_, $flag)"],
  "namespace.unshare": ["unshare($flags)"],
  "time.offsets": ['openat(_, "self/timens_offsets", O_WRONLY)', "write(_, _)"],
  "console.connect": ["openat(AT_FDCWD, $path, O_PATH)", "socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0)", "connect(_, _)"],
  "mount.open": ["+open_tree(AT_FDCWD, $source, _)", "?openat(AT_FDCWD, $source, O_PATH)", ...ASKED],
  "mask.open": [
    'openat(AT_FDCWD, "/dev/null", O_PATH|O_NOFOLLOW)',
    'open_tree(_, "", OPEN_TREE_CLONE|AT_EMPTY_PATH)',
    '?mount_setattr(_, "", AT_EMPTY_PATH, _)',
  ],
  "process.clone": [
    "<?prctl(PR_SET_DUMPABLE, 0)",
    "<?clone3({flags=$flags|CLONE_PARENT, exit_signal=0})",
    "<?clone3(_)",
    "?clone(_)",
    "<sendmsg(_, _)",
    // What was made for a mount that the plan wants otherwise.
    ">?+fsopen(_, FSOPEN_CLOEXEC)",
    ">?+fsconfig(_, _, _, _, 0)",
    ">?+sched_setaffinity(0, _, _)",
    ">?umask(0)",
  ],
  "process.deathSignal": ["prctl(PR_SET_PDEATHSIG, $signal)"],
  "cgroup.join": ['+write(_, "0")'],
  "process.becomeRoot": [
    "?setgroups(0, NULL)",
    "setresgid(0, 0, 0)",
    "setresuid(0, 0, 0)",
    "?prctl(PR_SET_PDEATHSIG, _)",
    "prctl(PR_SET_DUMPABLE, 0)",
  ],
  "session.create": ["setsid()"],
  "keyring.join": ["keyctl(KEYCTL_JOIN_SESSION_KEYRING, $name)"],
  "loopback.up": ["?socket(AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, 0)", "?ioctl(_, SIOCSIFFLAGS, _)"],
  "hostname.set": ["sethostname($name, _)"],
  "domainname.set": ["setdomainname($name, _)"],
  "mount.propagation": ['mount_setattr(_, "", AT_EMPTY_PATH|AT_RECURSIVE, _)'],
  "mount.detach": ["umount2(_, MNT_DETACH)"],
  "root.propagation": ['mount(NULL, "/", NULL, $flags, NULL)'],
  "root.open": [
    "openat(AT_FDCWD, $path, O_PATH|O_DIRECTORY|O_NOFOLLOW)",
    "?+mount(NULL, _, NULL, MS_PRIVATE, NULL)",
    '?open_tree(_, "", OPEN_TREE_CLONE|AT_EMPTY_PATH|AT_RECURSIVE)',
    "?move_mount(_, _, _, _, _)",
    "?mount($path, $path, NULL, MS_BIND|MS_REC, NULL)",
  ],
  // Beside the one that was made before, a directory is made without being looked for.
  "mount.bind": [
    ...MAKE_TARGET.map((call) => call.replace(/^\+openat2/, "?+openat2")),
    // The call is repeated where flags are locked that the configuration does not name.
    ...ATTACH.map((call) => call.replace("attr_clr=$attrClear}", "attr_clr=$attrClear|$attrDrop}")),
    '?mount_setattr(_, "", AT_EMPTY_PATH, {propagation=0})',
    "?mount(_, _, NULL, MS_BIND, NULL)",
    "?symlinkat(_, _, _)",
  ],
  "mount.filesystem": [...MAKE_TARGET, ...NEW_FILESYSTEM.map((call) => `<${call}`), ...ATTACH, "?mount($source, _, $fstype, _, _)"],
  "mount.remount": [TARGET, '?+mount_setattr(_, "", AT_EMPTY_PATH, _)', "?+fsconfig(_, _, _, _, 0)", "?mount(_, _, _, MS_REMOUNT, _)"],
  "directory.create": [FIND, ...MAKE_LEVELS],
  "symlink.create": ["+openat2(_, _, _)", ...MAKE_LEVELS, "+symlinkat($text, _, _)", "?unlinkat(_, _, 0)"],
  "device.create": [
    "+openat2(_, _, _)",
    ...MAKE_LEVELS,
    "mknodat(_, _, $type|$mode)",
    '?fchownat(_, "", $uid, $gid, AT_EMPTY_PATH)',
    "?fchmodat(_, _, $mode)",
  ],
  "console.open": [
    "+openat2(_, _, _)",
    'openat(_, "ptmx", O_RDWR|O_NOFOLLOW|O_NOCTTY)',
    "+ioctl(_, _, _)",
    "?fchown(_, $uid, -1)",
    '?open_tree(_, "", _)',
    "?move_mount(_, _, _, _, _)",
    "sendmsg(_, _)",
    "+dup3(_, _, 0)",
  ],
  "root.pivot": [
    "fchdir(_)",
    'pivot_root(".", ".")',
    "fchdir(_)",
    'mount(NULL, ".", NULL, MS_SLAVE|MS_REC, NULL)',
    'umount2(".", MNT_DETACH)',
    'chdir("/")',
  ],
  "root.move": [
    'mount(NULL, "/", NULL, MS_SLAVE|MS_REC, NULL)',
    "?+umount2(_, MNT_DETACH)",
    '?+mount("tmpfs", _, "tmpfs", MS_RDONLY, "mode=755")',
    "fchdir(_)",
    'mount(".", "/", NULL, MS_MOVE, NULL)',
    'chroot(".")',
    'chdir("/")',
  ],
  "root.finalPropagation": ['mount_setattr(_, "", _, {propagation=$flags})', "?mount(NULL, _, NULL, $flags, NULL)"],
  "root.readonly": [
    'mount_setattr(_, "", AT_EMPTY_PATH, {attr_set=MOUNT_ATTR_RDONLY})',
    "?mount(NULL, _, NULL, MS_REMOUNT|MS_BIND|MS_RDONLY, NULL)",
  ],
  "sysctl.write": ['openat2(_, "sys/$key", _)', "write(_, $value)"],
  "path.readonly": [
    FIND,
    '?open_tree(_, "", OPEN_TREE_CLONE|AT_EMPTY_PATH|AT_RECURSIVE)',
    '?mount_setattr(_, "", AT_EMPTY_PATH|AT_RECURSIVE, {attr_set=MOUNT_ATTR_RDONLY})',
    '?move_mount(_, "", _, "", MOVE_MOUNT_F_EMPTY_PATH|MOVE_MOUNT_T_EMPTY_PATH)',
    "?mount(_, _, NULL, MS_BIND|MS_REC, NULL)",
  ],
  "root.enter": ["fchdir(_)", 'chroot(".")', 'chdir("/")'],
  "path.mask": [
    FIND,
    '?open_tree(_, "", OPEN_TREE_CLONE|AT_EMPTY_PATH)',
    '?fsopen("tmpfs", FSOPEN_CLOEXEC)',
    "?+fsconfig(_, _, _, _, 0)",
    "?fsmount(_, FSMOUNT_CLOEXEC, _)",
    "?move_mount(_, _, _, _, _)",
    "?mount(_, _, _, _, _)",
  ],
  "process.umask": [],
  "process.stdioOwner": ["?+fchown(_, $uid, -1)"],
  "process.noNewPrivileges": ["prctl(PR_SET_NO_NEW_PRIVS, 1)"],
  "capability.bounding": ["?+prctl(PR_CAPBSET_DROP, _)"],
  "process.user": [
    "prctl(PR_SET_KEEPCAPS, 1)",
    "?setgroups(_, $groups)",
    "setresgid($gid, $gid, $gid)",
    "setresuid($uid, $uid, $uid)",
    "?prctl(PR_SET_PDEATHSIG, _)",
    "prctl(PR_SET_DUMPABLE, 0)",
  ],
  "capability.set": [
    "capset(_, {effective=$effective, permitted=$permitted, inheritable=$inheritable})",
    "prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)",
    "?+prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, _)",
    "prctl(PR_SET_KEEPCAPS, 0)",
    "?prctl(PR_SET_PDEATHSIG, _)",
    "prctl(PR_SET_DUMPABLE, 0)",
  ],
  "process.cwd": ["chdir($path)"],
  "process.home": ["?+openat(_, _, O_RDONLY|O_NONBLOCK|O_NOFOLLOW|O_NOCTTY)", "?+openat(_, _, O_PATH|O_NOFOLLOW)"],
  "process.program": ["+faccessat2(AT_FDCWD, _, X_OK, AT_EACCESS)"],
  "descriptors.sweep": ["?close_range(_, _, CLOSE_RANGE_CLOEXEC)", "?+fcntl(_, F_SETFD, FD_CLOEXEC)", "?+close(_)"],
  "process.wait": ["read(_, _, 1)"],
  "process.claim": [
    "+read(_, _, _)",
    "?+prlimit64(0, _, _, NULL)",
    "?chdir(_)",
    "?+mkdirat(_, _, 0755)",
    "?+openat(AT_FDCWD, _, O_WRONLY|O_CREAT|O_TRUNC|O_NOFOLLOW|O_NONBLOCK|O_NOCTTY, _)",
    "?+write(_, _, _)",
    "?ioctl(0, TIOCSWINSZ, _)",
    "+faccessat2(AT_FDCWD, _, X_OK, AT_EACCESS)",
  ],
  "console.size": ["ioctl(0, TIOCSWINSZ, _)"],
  "file.receive": [
    "?+mkdirat(_, _, 0755)",
    "openat(AT_FDCWD, $path, O_WRONLY|O_CREAT|O_TRUNC|O_NOFOLLOW|O_NONBLOCK|O_NOCTTY, $mode)",
    "?+read(_, _, _)",
    "?+write(_, _, _)",
  ],
  "process.exec": ["?umask(_)", "execve(_, $args, $env|HOME)"],
  "hook.run": [
    "+pipe2(_, _)",
    "?clone(SIGCHLD)",
    "?vfork()",
    "?prctl(PR_SET_PDEATHSIG, SIGKILL)",
    "?fchdir(_)",
    '?chroot(".")',
    "?chdir($cwd)",
    "?umask(_)",
    "?capset(_, _)",
    "?seccomp(SECCOMP_SET_MODE_FILTER, $filterFlags, _)",
    "execve($path, $args, _)",
    "?+write(_, _)",
    "?kill(_, SIGKILL)",
    "+wait4(_, _, _)",
  ],
  "seccomp.prepare": [
    "?+seccomp(_, _, NULL)",
    '?+mkdir("*/@cache*", 0700)',
    '?+openat(AT_FDCWD, "*/@cache/*", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW)',
    '?+rename("*/@cache/*", "*/@cache/*")',
    '?+unlink("*/@cache/*")',
    '?link("*/@cache/*", $path)',
    "?openat(AT_FDCWD, $path, O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW)",
    "?+write(_, _)",
  ],
  "seccomp.load": ["?umask(_)", "?capset(_, _)", "seccomp(SECCOMP_SET_MODE_FILTER, $flags, _)", "?sendmsg(_, _)"],
  "seccomp.notify": ["connect(_, _)", "sendmsg(_, _)"],
  "label.set": ["+openat2(_, _, _)", "write(_, $value)"],
  "namespace.enter": ["prctl(PR_SET_DUMPABLE, 0)", "?pidfd_open($pid, 0)", "+setns(_, _)"],
  "root.current": ["openat(AT_FDCWD, $path, O_PATH|O_DIRECTORY|O_NOFOLLOW)", "fchdir(_)"],
  "sync.end": ["recvmsg(_, _)", "?flock(_, LOCK_UN)"],
  "mount.cgroup": [
    ...MAKE_TARGET,
    '?fsopen("cgroup2", FSOPEN_CLOEXEC)',
    "?+fsconfig(_, _, _, _, 0)",
    "?fsmount(_, FSMOUNT_CLOEXEC, _)",
    ...OPTIONAL_ATTACH,
    "?mount(_, _, _, _, _)",
  ],
  "seccomp.receive": ["recvmsg(_, _)", "+read(_, _, _)"],
  "capability.drop": ["capset(_, _)"],
  "directory.open": [FIND, '?openat(_, ".", O_RDONLY|O_DIRECTORY)'],
  "directory.copy": [
    FIND,
    "?+openat(_, _, _)",
    "?+mkdirat(_, _, 0700)",
    "?+symlinkat(_, _, _)",
    "?+sendfile(_, _, NULL, _)",
    "?+fchown(_, _, _)",
    "?+fchmod(_, _)",
    "?+fchownat(_, _, _, _, AT_SYMLINK_NOFOLLOW)",
  ],
  "process.affinity": ["sched_setaffinity(0, _, $cpus)"],
  "seccomp.send": ["openat(AT_FDCWD, $path, O_RDONLY|O_NOFOLLOW)", "sendmsg(_, _)"],
  "process.scheduler": ["sched_setattr(0, {sched_policy=$policy, sched_flags=$flags, sched_nice=$nice, sched_priority=$priority}, 0)"],
  "process.ioPriority": ["ioprio_set(IOPRIO_WHO_PGRP, 0, _)"],
  "process.personality": ["personality($domain)"],
  "process.memoryPolicy": ["set_mempolicy($mode|$flags, $nodes, _)"],
  "root.bind": [
    "open($path, O_PATH|O_DIRECTORY|O_NOFOLLOW)",
    'open_tree(_, "", OPEN_TREE_CLONE|AT_EMPTY_PATH|AT_RECURSIVE)',
    "+statx(_, _, _, _, _)",
    "move_mount(_, _, _, _, _)",
  ],
  "resctrl.prepare": ["?mkdir(_, _)", "?+write(_, _)"],
  "resctrl.join": ["write(_, _)"],
  "resctrl.monitor": ["mkdir(_, _)"],
  "netdevice.move": ["socket(AF_NETLINK, _, NETLINK_ROUTE)", "+sendmsg(_, _)", "+recvmsg(_, _)"],
  "idmap.open": ["pipe2(_, O_CLOEXEC)", "clone(CLONE_NEWUSER|SIGCHLD)", "+write(_, _)", "openat(_, _, O_RDONLY)", "wait4(_, _, _)"],
  "mount.idmap": ['?mount_setattr(_, "", _, {attr_set=MOUNT_ATTR_IDMAP})', ...ASKED],
  "mount.make": NEW_FILESYSTEM,
  "mount.openLink": ["?openat(AT_FDCWD, $source, O_PATH|O_NOFOLLOW)", "?+open_tree(AT_FDCWD, $source, _)", ...ASKED],
  "source.serve": ["socketpair(AF_UNIX, SOCK_SEQPACKET|SOCK_CLOEXEC, 0, _)", "clone(SIGCHLD)"],
  "device.open": [
    'fsopen("tmpfs", FSOPEN_CLOEXEC)',
    "fsconfig(_, FSCONFIG_CMD_CREATE, NULL, NULL, 0)",
    "fsmount(_, FSMOUNT_CLOEXEC, _)",
    "mknodat(_, _, $type, _)",
    "fchownat(_, _, $uid, $gid, AT_SYMLINK_NOFOLLOW)",
    "fchmodat(_, _, $mode)",
    "clone(CLONE_FILES|SIGCHLD)",
    "unshare(CLONE_NEWNS)",
    'mount(NULL, "/", NULL, MS_REC|MS_PRIVATE, NULL)',
    'move_mount(_, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH)',
    "open_tree(_, _, OPEN_TREE_CLONE)",
    "?open_tree(AT_FDCWD, $path, _)",
  ],
  "idmap.verify": [],
  "systemd.startUnit": UNIT,
  "cgroup.attach": ["+openat(AT_FDCWD, $files, O_WRONLY)", "+write(_, _)"],
  "systemd.attach": UNIT,
};

/** With the operation's own arguments filled in. */
export function systemCallsOf(op: Op): string[] {
  return CALLS[op.op].map((call) =>
    call.replace(/"([^"$]+)\$(\w+)"|\$(\w+)/g, (_, before: string, within: string, field: string) =>
      within ? `"${before}${fieldText(op, within).slice(1)}` : fieldText(op, field),
    ),
  );
}

/** As declared, to be compared with a trace. */
export function declaredSystemCalls(name: OpName): readonly string[] {
  return CALLS[name];
}

function fieldText({ op, args }: Op, field: string): string {
  const value = (args as OpArgs<OpName> & Readonly<Record<string, unknown>>)[field];
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => (typeof item === "string" ? JSON.stringify(item) : String(item))).join(", ")}]`;
  if (field === "message") return messageName(value as number);
  if (field === "mode" || field === "type") return `0${(value as number).toString(8)}`;
  if (field === "cgroup") return value === NO_SLOT ? "no cgroup" : "CLONE_INTO_CGROUP";
  if ((field === "flags" || field === "flag") && /^(process\.clone|namespace\.)/.test(op)) return `new ${namespaceNames(value as number)}`;
  if (typeof value === "number" && field === "flags") return `0x${value.toString(16)}`;
  if (typeof value === "bigint" && op.startsWith("capability.")) return `0x${value.toString(16)}`;
  return String(value);
}
