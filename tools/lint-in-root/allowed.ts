/** Calls with a path outside the in-root module, each with the reason why no link, name or race of a hostile root file system can turn it. */
/** File -> call -> reason. */
export type Allowed = Readonly<Record<string, Readonly<Record<string, string>>>>;

const HOST_VIEW = "a path of the configuration or the command line, in the caller's mount namespace and before the container's root is one";
const HELD_NAME = "one name in a directory that inroot_parent has opened, never followed";
const PROC = "below the verified procfs handle";
const FIXED = "the root or the working directory itself, which is a descriptor's by then";
const CONTAINER_VIEW = "a path of the container, by its own rules and with its own rights, after the pivot: all it can reach is its own";
const COPY = "one name in a directory of the copy, both held by descriptor, never followed";
const FRESH = "in a filesystem that this very process has just made, and nobody else sees";

export const HELPER_CALLS: Allowed = {
  "native-bindings/init/bind.c": {
    "openat(AT_FDCWD, op->source.at)": HOST_VIEW,
    "open_tree(AT_FDCWD, op->source.at)": HOST_VIEW,
    "openat(AT_FDCWD, slot->source)": `${HOST_VIEW}, once more where there is no open_tree(2)`,
    'mount(NULL, "/")': FIXED,
  },
  "native-bindings/init/cgroup.c": {
    "openat(AT_FDCWD, path.at)": "a file of the host's cgroup filesystem",
    "openat(AT_FDCWD, op->path.at)": "a directory of the host's cgroup filesystem",
  },
  "native-bindings/init/claim.c": {
    "mkdirat(AT_FDCWD, above)": CONTAINER_VIEW,
    "openat(AT_FDCWD, path)": CONTAINER_VIEW,
  },
  "native-bindings/init/cleanup.c": {
    "newfstatat(AT_FDCWD, cleanup->state_path)":
      "ROOT/ID, to see whether it is still the directory that is held; the monitor has the host's view",
    "unlinkat(cleanup->state, steps[i + 1])":
      "one name in the held directory of the state, or a cgroup that runt has made itself, under the lock",
    "unlinkat(state, path)": "ROOT/ID itself when it is the held directory, or a cgroup that runt has made itself, under the lock",
    "execve(path)": "/proc/self/fd of the runtime's own executable, held open since the start",
  },
  "native-bindings/init/clone.c": { 'openat(cgroup, "cgroup.procs")': "below a held directory of the host's cgroup filesystem" },
  "native-bindings/init/console.c": {
    "openat(AT_FDCWD, path)": HOST_VIEW,
    'openat(directory, "ptmx")':
      "one name in /dev/pts as inroot_open has found it without a link; what is opened has to be the multiplexer of a devpts",
  },
  "native-bindings/init/copy.c": {
    "openat(from, name)": COPY,
    "openat(to, name)": COPY,
    "readlinkat(from, name)": COPY,
    "symlinkat(to, name)": COPY,
    "fchownat(to, name)": COPY,
    "mkdirat(to, name)": COPY,
    "newfstatat(from, name)": COPY,
    'openat(directory, ".")': "the directory that inroot_open has found",
    'openat(mount, ".")': "the root of the mount that is held",
    'openat(mount, "..")': "looked at and compared only: nothing is done with what is above",
    'openat(covered, "..")': "looked at and compared only: nothing is done with what is above",
  },
  "native-bindings/init/device.c": {
    "readlinkat(directory, name)": HELD_NAME,
    "symlinkat(directory, name)": HELD_NAME,
    "unlinkat(directory, name)": HELD_NAME,
    "openat(directory, name)": HELD_NAME,
    "mknodat(directory, name)": HELD_NAME,
    "fchmodat(proc, text)": `${PROC}: self/fd/N of a held descriptor`,
  },
  "native-bindings/init/device_open.c": {
    "mknodat(mount, NODE)": FRESH,
    "fchownat(mount, NODE)": FRESH,
    "fchmodat(mount, NODE)": FRESH,
    "open_tree(mount, NODE)": FRESH,
    'mount(NULL, "/")': FIXED,
    'move_mount(mount, "", AT_FDCWD, "/")': FIXED,
  },
  "native-bindings/init/enter.c": {
    "openat(proc, path)": `${PROC}: PID/ns/TYPE`,
    "openat(AT_FDCWD, op->path.at)": "the root of a container that was entered: `/`, or what create has been told is its root, and no link",
  },
  "native-bindings/init/hook.c": {
    "execve(op->path.at)": "a hook's program: the runtime's hooks by the host's rules, the container's by its own",
  },
  "native-bindings/init/idmap.c": { "openat(proc, path)": `${PROC}: the maps of this process's own child` },
  "native-bindings/shared/inroot.c": {
    "openat2(root, path)": "the in-root module",
    "openat(current, name)": "the in-root module",
    "mkdirat(parent.fd, name)": "the in-root module",
    "openat(parent.fd, name)": "the in-root module",
  },
  "native-bindings/shared/inroot_walk.c": {
    "openat(fd, name)": "the in-root module",
    "openat(walk->here, name)": "the in-root module",
    "mkdirat(walk->here, name)": "the in-root module",
  },
  "native-bindings/init/home.c": {
    "openat(directory, name)": "one name in a directory as inroot_open has found it, never followed; only a regular file is read",
    "readlinkat(directory, name)": "the text of that link, which is a path for inroot_open again",
  },
  "native-bindings/init/label.c": { 'openat(proc, "self")': PROC },
  "native-bindings/init/live.c": { "umount2(path)": `${PROC}: self/fd/N of a held descriptor` },
  "native-bindings/init/mask.c": { 'openat(AT_FDCWD, "/dev/null")': "the host's /dev/null, before the pivot, verified to be the device" },
  "native-bindings/init/fresh.c": {
    "openat(AT_FDCWD, path)": "a new file beside the exit record, which is named on the command line; what is there already is not opened",
    "unlinkat(AT_FDCWD, path)": "the name of such a file, whosever it is",
  },
  "native-bindings/init/log_counts.c": { 'openat(AT_FDCWD, "/proc/self/stat")': "the host's" },
  "native-bindings/init/log_file.c": {
    "openat(AT_FDCWD, file->path)": "the log, which is named on the command line; no link is followed, and the inode is looked at",
    "unlinkat(AT_FDCWD, file->path)": "the log, of which one file is to be kept",
    "newfstatat(AT_FDCWD, file->path)": "the log, to see whether it is still the file that is held",
    "newfstatat(AT_FDCWD, to_path)": "a log that was rotated, to see whether there is one",
    "renameat2(AT_FDCWD, from_path, AT_FDCWD, to_path)": "the log and those that were rotated, beside it",
  },
  "native-bindings/init/log_keeper.c": { 'openat(AT_FDCWD, "/dev/null")': "the host's" },
  "native-bindings/init/monitor_record.c": {
    "openat(AT_FDCWD, path)": "a descriptor of its own, in /proc",
    'openat(AT_FDCWD, "/dev/null")': "the host's",
    "openat(AT_FDCWD, record->oom_path)": "a file of the host's cgroup filesystem",
    "newfstatat(AT_FDCWD, path)": "the exit record, to see whether it is still the file that is held",
    "renameat2(AT_FDCWD, a, AT_FDCWD, b)": "the exit record, named on the command line; the monitor has the host's view",
    "renameat2(AT_FDCWD, new, AT_FDCWD, record->path)": "the exit record, named on the command line; the monitor has the host's view",
    "unlinkat(AT_FDCWD, new)": "a file that fresh_beside has made",
    "unlinkat(AT_FDCWD, path)": "a file that fresh_beside has made",
  },
  "native-bindings/init/mount.c": {
    "mount(source, path)": `${PROC}: self/fd/N of a held descriptor is the target`,
    'move_mount(fd, "", run->slots[SLOT_ROOT].fd, path + 1)': "the test build's, for the defence mount-by-path",
  },
  "native-bindings/init/namespace.c": {
    "openat(AT_FDCWD, operation.arguments.namespace_join.path.at)": HOST_VIEW,
    'openat(AT_FDCWD, "/proc/self/ns/user")': "this process's own namespace, in the host's view",
  },
  "native-bindings/init/process.c": {
    "chdir(op->path.at)": `${CONTAINER_VIEW}; getcwd(2) has to show a path of the root afterwards`,
  },
  "native-bindings/init/program.c": {
    "newfstatat(AT_FDCWD, path)": CONTAINER_VIEW,
    "faccessat2(AT_FDCWD, path)": CONTAINER_VIEW,
    "faccessat(AT_FDCWD, path)": CONTAINER_VIEW,
    "execve(run->program.path)": CONTAINER_VIEW,
  },
  "native-bindings/init/root.c": {
    "mount(NULL, place)": "the way to the root file system, whose own directory is the last of it: the caller's",
    "openat(AT_FDCWD, path)": "the root file system itself, which may be no link",
    "mount(path, path)": "the same where there is no open_tree(2); what is mounted is compared with what was opened",
    'openat(AT_FDCWD, "/")': FIXED,
    'chdir("/")': FIXED,
    'chroot(".")': FIXED,
    'mount(NULL, ".")': FIXED,
    'umount2(".")': FIXED,
    'pivot_root(".", ".")': FIXED,
  },
  "native-bindings/init/mount_table.c": { 'openat(proc, "self/mountinfo")': PROC, "openat(proc, text)": PROC },
  "native-bindings/init/root_move.c": {
    "umount2(point)": "mount points of this mount namespace, as the kernel lists them, none of them below the root file system",
    'mount("tmpfs", point)': "mount points of this mount namespace, as the kernel lists them, none of them below the root file system",
    'mount(NULL, "/")': FIXED,
    'mount(".", "/")': FIXED,
    'chroot(".")': FIXED,
    'chdir("/")': FIXED,
  },
  "native-bindings/init/source.c": { 'openat(proc, "self/ns/mnt")': PROC },
  "native-bindings/init/slots.c": {
    'openat(AT_FDCWD, "/proc")': "the host's procfs before the pivot, verified to be one",
    "openat(AT_FDCWD, op->path.at)": "files of the state directory",
    'openat(proc, "self/fd")': PROC,
    "openat(proc, path)": `${PROC}: the files of this process that the callers of proc_write name`,
  },
  "native-bindings/init/terminal.c": {
    "openat(AT_FDCWD, own)": "the caller's own stdout, in /proc",
    'openat(AT_FDCWD, "/dev/null")': "the host's",
  },
};

const ROOT_ITSELF = "the root file system itself";
const DOOR = "the in-root module";

export const RUNTIME_CALLS: Allowed = {
  "src/runtime/isolation/boot/mount-points.ts": { "open(rootfs)": ROOT_ITSELF, 'openInRoot(root, `/${names.join("/")}`)': DOOR },
  "src/runtime/isolation/look/machines.ts": {
    "readFile(`/proc/${monitor}/root${RELEASE}`)":
      "the jail of a machine, which runt has made: the guest reaches the shared directory alone",
  },
  "src/runtime/isolation/processes/shared-directory.ts": {
    "open(`${this.#monitor}/root`)": "the root of the monitor itself, the jail of a machine",
    "openInRoot(root, USR)": DOOR,
    "openInRoot(root, path)": DOOR,
  },
  "src/runtime/execute/criu/restore-mounts.ts": { "open(rootfs)": ROOT_ITSELF, "openInRoot(root, path)": DOOR },
  "src/runtime/execute/criu/revive.ts": {
    "realpath(config.rootfs)": ROOT_ITSELF,
    "enterOwnMounts(rootfs)": `${ROOT_ITSELF}, bound on itself for criu`,
  },
  "src/runtime/post-mortem/container-root.ts": {
    "open(`${proc}/root`)": "the root of a process that is held, itself",
    "open(rootfs)": ROOT_ITSELF,
    "openInRoot(root, path)": DOOR,
  },
  "src/runtime/diagnostics/inspect/kernel.ts": {
    "open(`/proc/${pid}/root`)": "the root of the container's process, itself",
    "openInRoot(root, target)": DOOR,
  },
  "src/runtime/prepare/host-probe.ts": { "lstat(rootfs)": `${ROOT_ITSELF}, which may be no link` },
  "src/runtime/diagnostics/validate/tree.ts": { "openInRoot(root, path)": DOOR },
  "src/runtime/host/walk.ts": {
    "openat(fd, name)":
      "one name that the held directory has just listed, never followed, on the same file system; of the host's cgroups and state",
    "openat(directory, name)":
      "the same name once more, or .., which counts only when device and inode are those of the directory the walk came from",
  },
};
