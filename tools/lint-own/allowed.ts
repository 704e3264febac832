/** Calls of the upper half that act on what a name or a number leads to, each with the reason why it harms nothing of anybody else's. File -> call -> reason. */
import type { Allowed } from "../lint-in-root/allowed.ts";

export const LIST = "tools/lint-own/allowed.ts";

const KERNEL = "a file of procfs, sysfs or a cgroup: none of them is a link or a FIFO";
const HELD = "of what is held by descriptor, whose kind was looked at";
const CHECKED = "opened without following a link and without waiting; what it is, is looked at before anything is read";
const MADE = "in a directory that this process has just made under a name that nobody else knows";
const NAME =
  "one name is renamed or removed, without following a link; what is there is replaced, and never a directory with something in it";
const CALLERS = "a path of the caller's or of the configuration";
const HOST = "a file of the host that only root writes";
const CALLERS_CHECKED = "a path of the caller's, opened without waiting; what it is, is looked at before anything is read";
const NAME_MOVED = "one name is renamed, without following a link; what was moved away is removed by removeScratch";
const KERNEL_CHILD = "a file of procfs of a child that has not been waited for";
const RANDOM = "a name with a random part that this library has given, in the directory of its executor";
const CALLERS_FIFO = "a path of the caller's, or a FIFO that was just made, opened for both ends first";

export const OWN_CALLS: Allowed = {
  "src/engine/cgroup/task-cgroup.ts": {
    "chmodSync(directory)": "a cgroup that was just made: mkdir(2) has succeeded",
    "readFileSync(file)": KERNEL,
    "openSync(directory)": KERNEL,
    "openSync(`/proc/self/fd/${directory}/${file}`)": KERNEL,
  },
  "src/engine/cgroup/slice.ts": {
    'readFileSync(join(directory, "cgroup.events"))': KERNEL,
  },
  "src/engine/images/builder.ts": {
    "utimesSync(this.#storage)": "the time of a directory that makeOwnDirectory has just looked at",
    "writeFileSync(storage)": MADE,
    "writeFileSync(registries)": MADE,
    "writeFileSync(file)": MADE,
    "writeFileSync(ignored)": MADE,
    "readFileSync(HOST_REGISTRIES)": HOST,
    "openSync(path)": CALLERS_CHECKED,
    "readFileSync(descriptor)": HELD,
  },
  "src/engine/images/fetch.ts": {
    "renameSync(from, to)": NAME,
    "openSync(path)": CALLERS_CHECKED,
    "readFileSync(fd)": HELD,
  },
  "src/engine/images/images.ts": {
    "utimesSync(this.#places.blob(manifest))": "the time of a blob of the engine",
  },
  "src/engine/images/places.ts": {
    "renameSync(content, join(places.layers, name))": NAME,
    "renameSync(join(places.layers, name), trash)": NAME,
    "chmodSync(this.#directory)": CALLERS,
  },
  "src/engine/images/trash.ts": {
    "renameSync(path, trash)": NAME,
    "unlink(path)": NAME,
  },
  "src/engine/images/layout.ts": {
    "renameSync(this.#path, `${this.#path}.damaged`)": NAME,
  },
  "src/engine/images/shelf.ts": {
    "createReadStream(archiveIn(directory))": MADE,
    "copyFile(blob, path)": "a blob of the engine that lstat has just found to be a regular file, to a directory just made",
    'writeFileSync(join(directory, "oci-layout"))': MADE,
    'writeFileSync(join(directory, "index.json"))': MADE,
  },
  "src/engine/images/tool.ts": {
    "readFileSync(`/proc/${pid}/io`)": KERNEL_CHILD,
  },
  "src/engine/images/scan.ts": {
    'createReadStream("")': HELD,
  },
  "src/engine/images/unpack.ts": {
    "chmodSync(content)": MADE,
    "writeFileSync(join(blobs, hex))": MADE,
    'writeFileSync(join(directory, "index.json"))': MADE,
    'writeFileSync(join(directory, "oci-layout"))': MADE,
  },
  "src/engine/logs/segments.ts": {
    "openSync(path)": CHECKED,
  },
  "src/engine/network/files.ts": {
    "readFileSync(HOST_RESOLV)": HOST,
  },
  "src/engine/network/guard.ts": {
    "writeFileSync(ipv6Switch(bridge))": KERNEL,
    "readFileSync(ipv6Switch(bridge))": KERNEL,
  },
  "src/engine/network/namespace.ts": {
    "openSync(path)": "made with O_EXCL",
  },
  "src/engine/network/host-filter.ts": {
    "writeFileSync(`/proc/sys/net/ipv4/conf/${bridge}/route_localnet`)": KERNEL,
  },
  "src/engine/network/resolver.ts": {
    "openSync(directory)": "the engine's directory, which makeOwnDirectory has just looked at, without following a link",
    "process.kill(found.pid)": "pid, start time and boot were looked at right before",
  },
  "src/engine/network/ports.ts": {
    "readFile(`/proc/net/${port.protocol}${six}`)": KERNEL,
    "readFile(`/proc/${pid}/comm`)": KERNEL,
  },
  "src/engine/pause/root.ts": {
    "readFileSync(program)": "the program that was installed with this one",
    'renameSync(join(making, "root"), root)': NAME,
  },
  "src/engine/run/clock.ts": {
    'readFileSync("/proc/uptime")': KERNEL,
    'readFileSync("/proc/sys/kernel/random/boot_id")': KERNEL,
  },
  "src/engine/run/containers/launching.ts": {
    "openSync(path)": CALLERS_CHECKED,
    "readFileSync(fd)": HELD,
  },
  "src/engine/run/resources/devices.ts": {
    "openSync(directory)": CALLERS_CHECKED,
    "openSync(path)": CALLERS_CHECKED,
    "readFileSync(fd)": HELD,
  },
  "src/engine/run/resources/kept-volumes.ts": {
    "renameSync(path, removed)": NAME_MOVED,
    "openSync(path)": CHECKED,
    "renameSync(path, to)": NAME_MOVED,
    "renameSync(to, path)": NAME_MOVED,
  },
  "src/engine/run/containers/launch-memory.ts": {
    "openSync(this.directory)": CHECKED,
    "unlinkSync(path)":
      "what another user has put into the directory in memory, which is closed to others by then; a link is removed itself",
  },
  "src/engine/run/containers/runtime.ts": {
    "chmodSync(path)": "a pipe of a process that its container has not started yet: by its descriptor in procfs",
  },
  "src/engine/run/resources/end-messages.ts": {
    "openSync(path)": CHECKED,
  },
  "src/engine/run/resources/log-routers.ts": {
    "openSync(join(this.#options.paths.volume(task.id, ROUTER_VOLUME), ROUTER_SOCKET))":
      "O_PATH, without following a link; what it is, is looked at",
  },
  "src/engine/run/resources/name-servers.ts": {
    "readFileSync(HOST_RESOLV)": HOST,
  },
  "src/engine/run/resources/shared-proxies.ts": {
    "renameSync(directory, removed)": NAME_MOVED,
  },
  "src/engine/run/place.ts": {
    'readFileSync("/proc/locks")': KERNEL,
  },
  "src/engine/secrets/files.ts": {
    "unlinkSync(directory)": NAME,
    "readFileSync(fd)": HELD,
    "lchownSync(path)": "a file that was just made in a tmpfs that only root reaches; a link is not followed",
  },
  "src/engine/secrets/memory-file.ts": {
    "openSync(place)": "a file without a name",
    "openSync(path)": MADE,
    "unlinkSync(path)": MADE,
  },
  "src/engine/secrets/read.ts": {
    "open(path)": CALLERS_CHECKED,
  },
  "src/engine/store/backup.ts": {
    "chmodSync(temporary)": "a copy that SQLite has just made: it refuses a file that is there",
  },
  "src/engine/store/open.ts": {
    "chmodSync(path)": "the database, whose kind, owner and mode were looked at (directory.ts), and which is locked",
  },
  "src/engine/users/task-users.ts": {
    "writeFileSync(`/proc/${pid}/${name}`)": KERNEL_CHILD,
    "unlinkSync(path)": NAME,
  },
  "src/engine/volumes/files.ts": {
    "lchownSync(file)": "a file that was just made; a link is not followed",
  },
  "src/engine/volumes/fill.ts": {
    "renameSync(part, complete)": NAME,
    "renameSync(complete, moving)": NAME,
    "renameSync(from, to)":
      "out of a copy that only root reaches, into a directory that was looked at: an empty directory of this engine is replaced, or nothing",
    "unlinkSync(from)": "in a copy that only root reaches: the entry has its name in the volume",
    "unlinkSync(path)": "in a copy that only root reaches and in which nothing runs yet; links are not followed",
    "lchownSync(path)": "in a copy that only root reaches and in which nothing runs yet; links are not followed",
    "chmodSync(path)": "in a copy that only root reaches and in which nothing runs yet; links are not followed",
  },
  "src/engine/volumes/image.ts": {
    "rmSync(file)": NAME,
    "rmSync(imageOf(path))": NAME,
    "readFileSync(backing)": KERNEL,
  },
  "src/engine/volumes/scratch.ts": {
    "unlinkSync(path)": NAME,
    "unlink(path)": "one name in a directory that is held by descriptor, never followed; nothing is mounted there",
    "rename(entry, below(top, moved.next()))":
      "one name in a directory that is held by descriptor, never followed; nothing is mounted there",
    "open(path)": "one name in a directory that is held by descriptor, never followed; nothing is mounted there",
  },
  "src/engine/volumes/source.ts": {
    'openSync("/")': "O_PATH or made with O_EXCL, one part of a path after the other, without following a link",
    "openSync(`/proc/self/fd/${this.#fd}/..`)": "O_PATH, the parent of a directory that is held and that only root can move",
    "openSync(path)": "O_PATH or made with O_EXCL, one part of a path after the other, without following a link",
    "chmodSync(`/proc/self/fd/${fd}`)": HELD,
  },
  "src/engine/volumes/within.ts": {
    "unlinkSync(target)": NAME,
    "unlinkSync(path)": NAME,
  },
  "src/executor/directory.ts": {
    'writeFileSync(join(making, "config.json"))': MADE,
    'writeFileSync(join(making, "executor.json"))': MADE,
    "rmSync(making)": MADE,
    "renameSync(making, place)": NAME,
    "rmSync(path)": "a link that leads nowhere is removed itself",
  },
  "src/executor/exec/handle.ts": {
    "openSync(fifo)": RANDOM,
    "rmSync(fifo)": RANDOM,
    "process.kill(this.#child.pid!)": "a child that has not been waited for",
    "rmSync(path)": RANDOM,
  },
  "src/executor/exec/leftovers.ts": {
    "rmSync(join(directory, file))": RANDOM,
  },
  "src/executor/exec/stdio.ts": {
    "openSync(path)": CALLERS,
  },
  "src/executor/fence/fence.ts": {
    'writeFileSync(join(directory, "cgroup.procs"))': KERNEL,
    'writeFileSync(join(before, "cgroup.procs"))': KERNEL,
    'writeFile(join(this.#monitors, "cgroup.procs"))': KERNEL,
    'writeFileSync(join(this.#monitors, "cgroup.procs"))': KERNEL,
    "chmodSync(level)": KERNEL,
    "process.kill(pid)": "a process that is in the fence's cgroup, which is frozen",
  },
  "src/executor/making.ts": {
    "openSync(`/proc/${pid}/ns/${NAMESPACE_FILES[type]}`)": KERNEL,
  },
  "src/executor/launch/privileged.ts": {
    'readFileSync("/proc/self/status")': KERNEL,
  },
  "src/executor/launch/fifos.ts": {
    "renameSync(spare, path)": "a directory of this process: its name has pid and start time, and it is moved away before it is removed",
    "renameSync(this.#directory, ended)":
      "a directory of this process: its name has pid and start time, and it is moved away before it is removed",
    "rmSync(ended)": "a directory of this process: its name has pid and start time, and it is moved away before it is removed",
  },
  "src/executor/launch/stdio.ts": {
    "openSync(path)": CALLERS_FIFO,
  },
  "src/executor/launch/user.ts": {
    "readFileSync(fd)": HELD,
  },
  "src/executor/own/file.ts": {
    "readFileSync(fd)": "this is the checked way",
    "openSync(path)": "this is the checked way",
    "rmSync(path)": "this is the checked way",
  },
  "src/executor/process/cgroups.ts": {
    'readFileSync("/proc/self/mountinfo")': KERNEL,
    "readFileSync(path)": KERNEL,
  },
  "src/executor/exec/kill.ts": {
    "process.kill(one.pid)": "its start time was compared right before (isAlive)",
  },
  "src/executor/process/end-cgroup.ts": {
    "process.kill(pid)": "it is in the cgroup by procfs, right before",
    "writeFileSync(path)": KERNEL,
    "writeFileSync(join(directory, file))": KERNEL,
  },
  "src/executor/process/procfs.ts": {
    'readFileSync("/proc/sys/kernel/random/boot_id")': KERNEL,
    "readFileSync(`/proc/${pid}/${name}`)": KERNEL,
  },
  "src/executor/profile.ts": {
    "readFileSync(path)": KERNEL,
  },
  "src/executor/pool/claim.ts": {
    "openSync(path)": "/proc/self/fd of the FIFO that is open, and was looked at when it was opened",
  },
  "src/executor/pool/files.ts": {
    "openSync(`/proc/${process.pid}/root`)": "O_PATH, the root of a process that is the container's first one also afterwards",
    "openSync(`/proc/self/fd/${directory}/${name}`)": "O_PATH | O_NOFOLLOW, one name in a directory that is held",
    "openSync(`/proc/self/fd/${held}`)": "a regular file on an ordinary file system, as it is held",
  },
  "src/executor/pool/outbound/connection.ts": {
    "openSync(`/proc/${init.pid}/ns/${name}`)": "a namespace of a process that is the container's first one also afterwards",
    "writeFileSync(`${directory}/cgroup.procs`)": KERNEL,
  },
  "src/executor/pool/outbound/host.ts": {
    'readFileSync("/proc/net/fib_trie")': KERNEL,
    "readFileSync(path)": "/etc/resolv.conf, which only root of the host writes, or a file of procfs",
  },
  "src/executor/pool/owner.ts": {
    "renameSync(path, aside)":
      "one name in the directory of the pool; what was moved is looked at, and has its name again if its process lives",
  },
  "src/executor/record.ts": {
    "unlinkSync(temporary)": NAME,
  },
  "src/executor/runtime/call.ts": {
    "openSync(tmpdir())": "a file without a name",
    'openSync(join(directory, "log"))': MADE,
    "rmSync(directory)": MADE,
  },
  "src/node/answering.ts": {
    'readFileSync("/proc/self/mountinfo")': KERNEL,
    "readFileSync(`/proc/${pid}/cmdline`)": KERNEL,
  },
  "src/node/mounts.ts": {
    "openSync(path)": "O_PATH: only the mount is asked for of what the path, or the link there, leads to",
    "readFileSync(`/proc/self/fdinfo/${fd}`)": KERNEL,
    'readFileSync("/proc/self/mountinfo")': KERNEL,
  },
  "src/node/packaged.ts": {
    "openSync(path)": "a program of this package",
  },
  "src/node/program.ts": {
    "process.kill(-pid)": "this is the checked way",
  },
  "src/node/write.ts": {
    "open(making)": "this is the checked way",
    "open(path)": "a file that was just made, or a directory, which is only synced",
    "rename(making, path)": "this is the checked way",
    "openSync(path)": "this is the checked way",
    "renameSync(making, path)": "this is the checked way",
    "unlinkSync(path)": "this is the checked way",
    "rmSync(making)": "this is the checked way",
    "rmSync(path)": "this is the checked way",
    "writeFileSync(fd)": "this is the checked way",
  },
  "src/runtd/host-facts.ts": {
    'readFileSync("/proc/meminfo")': KERNEL,
    'readFileSync("/proc/sys/kernel/pid_max")': KERNEL,
    'readFileSync("/proc/loadavg")': KERNEL,
    "readFileSync(path)": "/etc/hosts of this host, of at most 64 KiB",
  },
  "src/runtd/interlink/guard.ts": {
    "readFileSync(path)": CALLERS,
  },
  "src/runtd/once.ts": {
    'readFileSync(file === "-" ? STDIN : file)': CALLERS,
  },
  "src/runtd/read-file.ts": {
    "readFileSync(path)": CALLERS,
  },
  "src/runtd/short-names.ts": {
    "openSync(path)":
      "a file of the host's configuration of registries, opened without waiting; what it is, is looked at before anything is read",
  },
  "src/runtd/sockets.ts": {
    "rmSync(making)": "a socket that this process has just made under a name of its own",
    "chownSync(making)": "a socket that this process has just made under a name of its own",
    "chmodSync(making)": "a socket that this process has just made under a name of its own",
    "renameSync(making, path)": "what has the name was looked at: a socket at which nobody listens",
    "rmSync(path)": "the socket that this process has made: device and inode are compared",
    "chmodSync(directory)": CALLERS,
    'readFileSync("/etc/group")': HOST,
  },
  "src/runtd/trusted-file.ts": {
    "openSync(path)": CHECKED,
    "readFileSync(descriptor)": HELD,
  },
  "src/runtd/activation.ts": {
    'readFileSync("/proc/self/net/unix")': KERNEL,
  },
  "src/runtd/parsing/answer.ts": {
    "readFileSync(`/proc/self/task/${thread}/stat`)": KERNEL,
  },
  "src/runtd/version.ts": {
    'readFileSync(new URL("../../package.json", import.meta.url))': "a file that was installed with this one",
  },
};
