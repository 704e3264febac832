/**
 * The C host module of `bin/runt`: thin, typed system calls without policy.
 *
 * Every function throws a HostError on failure (an Error with `errno`, `code`, `syscall` and, where there is one, `path`).
 * Descriptors are numbers; every descriptor made here is close-on-exec. Paths and texts are UTF-8.
 * 64-bit results that may exceed 2^53 are BigInt.
 */
declare module "runt:host" {
  export interface HostError extends Error {
    readonly errno: number;
    /** Symbolic name: "ENOENT". */
    readonly code: string;
    readonly syscall: string;
    readonly path?: string;
  }

  /** Command line, argv[0] first. */
  export function argv(): string[];
  export function getenv(name: string): string | undefined;
  /** Embedded at build: version, commit (may be ""). */
  export const build: { readonly version: string; readonly commit: string };
  /** What this executable was compiled for. */
  export const architecture: "amd64" | "arm64";
  /** End the process at once (no JS teardown). */
  export function exit(status: number): never;
  /** The embedded data blob of this name (for instance the JSON schema text), or undefined. */
  export function resource(name: string): string | undefined;

  // ---- text and bytes
  export function utf8Encode(text: string): ArrayBuffer;
  /** Throws on invalid UTF-8 with `code` "EILSEQ" and `errno` = EILSEQ. */
  export function utf8Decode(bytes: ArrayBuffer, offset?: number, length?: number): string;
  /** Where the next item, from that index on, has that value as that member; -1: none. */
  export function findNext<T extends object>(list: readonly T[], member: keyof T & string, value: unknown, from: number): number;
  /** The wire form of a plan (src/runtime/plan/wire.ts): those of `operations` whose actor is one of `actors`, the number of an actor being its place
   *  in that list. `shapes`: by name of an operation its id, its letters, and the names of its fields. A
   *  letter is a field: u = u32, q = 64 bit (bigint or number), s = str (u32 length, bytes, NUL; EINVAL with a NUL inside), S = strs (u32 count, then
   *  str each), U = u32s. Little endian, unaligned. */
  export function packPlan(
    magic: number,
    version: number,
    slots: number,
    shapes: Readonly<Record<string, readonly [id: number, letters: string, ...names: string[]]>>,
    actors: readonly string[],
    operations: readonly { readonly op: string; readonly actor: string; readonly args: object }[],
  ): ArrayBuffer;
  /** Lower-case hex SHA-256 (of a text's UTF-8). */
  export function sha256(data: string | ArrayBuffer): string;
  /**
   * True if JSON.parse is not the right parser for the JSON text: outside strings there is a number with 16 or more digits, which it would
   * round, or more than 256 objects and lists within each other, which it would take.
   */
  export function needsExactParser(text: string): boolean;

  // ---- files
  /** Whole file as text; throws EFBIG above `limit` bytes (default 64 MiB), EILSEQ if not UTF-8, EINVAL if not a regular file
   *  (opened O_NONBLOCK, so that a FIFO never blocks) unless `anyType`. */
  export function readFile(path: string, limit?: number, anyType?: boolean): string;
  /** Members of the JSON object in a file, whose rest is not looked at further than is needed: "a b(c)" are `a`, and of the object `b` its `c`.
   *  Those that are absent are left out. Undefined when this reader does not understand the text (not an object, damaged, a name with an
   *  escape, a member twice, nested very deeply): JSON.parse of the whole has the last word. Errors are those of readFile.
   *  `directory`: descriptor of that which the path is relative to. `into`: what a former call with these names has returned, which may be
   *  filled anew and returned again. */
  export function readMembers(path: string, names: string, directory?: number, into?: object): Record<string, unknown> | undefined;
  /** First line, at most 4 KiB, of a file of the kernel's that one read(2) gives whole; undefined when it is not there, or no more. */
  export function readLine(path: string): string | undefined;
  /** All that a descriptor gives; of a FIFO that does not block, what it has (EAGAIN: nothing). */
  export function readFd(fd: number, limit?: number): string;
  /** A file below a directory of runt's, as readFile; ELOOP for a symlink, EINVAL also for a file that is neither the caller's nor root's. */
  export function readOwn(path: string, limit?: number): string;
  /** The same as bytes. */
  export function readBytes(path: string, limit: number): ArrayBuffer;
  /** open + write all + close. `flags` as open(2) (O_CLOEXEC is added). */
  export function writeFile(path: string, text: string, flags: number, mode: number): void;
  /** open + write of a control file of the kernel, which stays open for the next call: that with the same path only writes. */
  export function writeControl(path: string, text: string): void;
  export function open(path: string, flags: number, mode?: number): number;
  export function openat(directory: number, path: string, flags: number, mode?: number): number;
  /** openat2(2) of a path as if the directory were /: links and .. stay below it, magic links are refused. Without openat2(2) one component at a time. */
  export function openInRoot(directory: number, path: string, flags: number): number;
  /** At most `length` bytes (up to 1 MiB) at an offset; less only at the end of the file. */
  export function pread(fd: number, offset: number | bigint, length: number): ArrayBuffer;
  export function close(fd: number): void;
  /** Writes all of it. */
  export function write(fd: number, data: string | ArrayBuffer): void;
  /** A row of the table that writeRows writes; all have the same number of cells, at most 16. */
  export function addRow(...cells: readonly (string | number)[]): void;
  /** Rows of ID, PID, STATUS, BUNDLE, CREATED and OWNER for the containers of these ids below a directory (a descriptor), from the one at `from`
   *  on: up to the first of which something unusual is to be said, whose index is returned, or their number. An ordinary one has a record of
   *  this schema and at least this minor number and was created. In the states of init that are letters of `awake` no v1 cgroup has frozen it. */
  export function addContainers(
    directory: number,
    ids: readonly string[],
    from: number,
    schema: number,
    minor: number,
    awake: string,
    ownerName: (uid: number) => string,
  ): number;
  /** Write the rows since the last call, and forget them: columns as wide as the widest cell and three blanks, at least `minimum`, the last as it is. */
  export function writeRows(fd: number, minimum: number): void;
  export interface Stat {
    readonly dev: bigint;
    readonly ino: bigint;
    readonly mode: number;
    readonly nlink: number;
    readonly uid: number;
    readonly gid: number;
    readonly rdevMajor: number;
    readonly rdevMinor: number;
    readonly size: number;
  }
  /** undefined for ENOENT and ENOTDIR; other errors throw. */
  export function stat(path: string): Stat | undefined;
  export function lstat(path: string): Stat | undefined;
  export function fstat(fd: number): Stat;
  /** What descriptors 0, 1 and 2 of a process (`self`, or a pid) are open at: the link in /proc, and where that is a path the mount as in
   *  mountinfo (-1: unknown) and the inode; undefined where none is open. */
  export function standardStreams(
    process: string,
  ): readonly ({ readonly link: string; readonly mountId?: number; readonly inode?: bigint } | undefined)[];
  /** f_type of statfs(2). */
  export function statfsType(path: string): number;
  /** access(2) as the effective user (AT_EACCESS). `directory`: descriptor of that which the path is relative to. */
  export function access(path: string, mode: number, directory?: number): boolean;
  export function mkdir(path: string, mode: number): void;
  /** Whether the directory is new: false for EEXIST, undefined for ENOENT; other errors throw. */
  export function tryMkdir(path: string, mode: number): boolean | undefined;
  export function rmdir(path: string): void;
  export function unlink(path: string): void;
  export function rename(from: string, to: string): void;
  /** A hard link `to` of the file `from`. */
  export function link(from: string, to: string): void;
  export function symlink(text: string, path: string): void;
  export function mkfifo(path: string, mode: number): void;
  export function chmod(path: string, mode: number): void;
  export function chown(path: string, uid: number, gid: number): void;
  export function fsync(fd: number): void;
  /** Names without . and .., unsorted; `directories`: of directories only; `characters`: those with no others than these,
   *  sorted. */
  export function readdir(path: string, directories?: boolean, characters?: string): string[];
  export function readlink(path: string): string;
  export function realpath(path: string): string;
  export function cwd(): string;
  export function chdir(path: string): void;
  export function umask(mask: number): number;
  /** flock(2). Returns false when LOCK_NB would block, or when somebody else has held it for `timeoutMs` (without it: as the operation says). */
  export function flock(fd: number, operation: number, timeoutMs?: number): boolean;
  /** Set an extended attribute on a path without following links. */
  export function setxattr(path: string, name: string, value: string): void;
  /** undefined when the attribute is absent or unsupported, null when there is no such file. */
  export function getxattr(path: string, name: string): string | null | undefined;
  export function isatty(fd: number): boolean;
  /** Size of the terminal behind a descriptor (TIOCGWINSZ); undefined when it is none. */
  export function windowSize(fd: number): { readonly rows: number; readonly columns: number } | undefined;
  /** Mark every descriptor from `first` up close-on-exec. */
  export function closeOnExecFrom(first: number): void;
  export function fdIsOpen(fd: number): boolean;

  // ---- processes
  export function getpid(): number;
  export function getppid(): number;
  export function geteuid(): number;
  export function getegid(): number;
  /** EINVAL for 0 and below, here and wherever a pid names one process: to the kernel these are groups, everybody, or the caller. */
  export function kill(pid: number, signal: number): void;
  export function pidfdOpen(pid: number): number;
  export function pidfdSendSignal(pidfd: number, signal: number): void;
  /** State letter and start time (clock ticks since boot) of /proc/PID/stat; undefined when there is no such process. Throws without a /proc. */
  export function procStat(pid: number): { readonly state: string; readonly startTime: bigint } | undefined;
  /** State letter while that process of this pid is there that has this start time (decimal), and is neither a zombie nor dead; "x" while it is exiting
   *  (PF_EXITING), whatever it still waits for; undefined otherwise, also for what can be no pid. Throws without a /proc. */
  export function runningState(pid: number, startTime: string): string | undefined;
  /** Name of a user in /etc/passwd, by uid in decimal; undefined when there is none. The last of several lines counts. */
  export function userName(uid: string): string | undefined;
  export interface WaitResult {
    readonly pid: number;
    /** Exit status, or 128 + signal. */
    readonly status: number;
  }
  /** waitpid(2); undefined with WNOHANG (1) when nothing ended, or when there is no such child. */
  export function waitpid(pid: number, options: number): WaitResult | undefined;
  /** Block every signal that can be blocked; the mask survives execHelper, whose signalfd then receives what is pending. */
  export function blockSignals(): void;
  /** As they were before blockSignals; no wait ends by one any more. */
  export function unblockSignals(): void;
  /**
   * While signals are blocked: whether TERM, INT, HUP or QUIT, unless the caller ignores it, ends whatever waits for more than some
   * milliseconds (poll, receiveMessage, runProgram, connect) with EINTR. After the first no other one does.
   */
  export function endWaitsBySignal(on: boolean): void;
  /** The number of the signal that has ended a wait; 0: none has. */
  export function endingSignal(): number;
  export function setChildSubreaper(on: boolean): void;
  export function prlimit(pid: number, resource: number, soft: bigint, hard: bigint): void;
  /** clock_gettime(CLOCK_REALTIME). */
  export function now(): { readonly seconds: number; readonly nanoseconds: number };
  /** nanosleep(2). */
  export function sleep(milliseconds: number): void;
  /** CAP_* bits of the effective set of this process. */
  export function effectiveCapabilities(): bigint;
  /** release of uname(2). */
  export function kernelRelease(): string;

  // ---- the helper
  /** Start the embedded helper (sealed memfd, vfork-style) with argv [name, ...args]; descriptors of `inherit` keep their
   *  numbers and lose close-on-exec in the child only. Returns the pid. The child gets SIGKILL when this process dies.
   *  `cgroup`: descriptor of a cgroup v2 directory that the helper starts in. `inheritEnvironment`: it gets this process' own; else none. */
  export function spawnHelper(args: readonly string[], inherit: readonly number[], cgroup?: number, inheritEnvironment?: boolean): number;
  /** The same from the sealed memfd only, once, and without waiting for its execve: where that fails, the child ends with status 127.
   *  `page`: memory that it shares (native-bindings/shared/spin_wait.h); it then starts on another processor than this process's, until it has the plan.
   *  undefined: there is no other processor, so nothing would come sooner. */
  export function spawnHelperEarly(args: readonly string[], inherit: readonly number[], page?: ArrayBuffer): number | undefined;
  /** Waits for that execve. False: it has failed. In `page` stands from then on whether both may wait for messages awake. */
  export function helperEarlyRuns(page?: ArrayBuffer): boolean;
  /** Replace this process by the embedded helper. `inherit` as above. Does not return. */
  export function execHelper(args: readonly string[], inherit: readonly number[]): never;
  /** Run a program (absolute path, args, env, undefined = this process's own), stdin from `input`, in the directory `cwd` (undefined =
   *  this process's own); waits at most timeoutMs (-1 = no limit), then SIGKILL. Returns status (128 + signal), what the signal is
   *  called where one has ended it ("killed"), and up to outputLimit bytes (default 64 KiB) of stdout and of stderr. */
  export function runProgram(
    path: string,
    args: readonly string[],
    env: readonly string[] | undefined,
    input: string,
    timeoutMs: number,
    outputLimit?: number,
    cwd?: string,
  ): { readonly status: number; readonly signal?: string; readonly timedOut: boolean; readonly stdout: string; readonly stderr: string };
  /** Go on in a new process that leads a session of its own, the only one to return from here. The process that called stays until a byte is
   *  written to the descriptor that is returned, and ends with 0 then; or until the new one ends, with its status (never 0). */
  export function detach(): number;
  /** Go into a mount namespace of this process's own, which receives the host's mounts and gives away none, and in which this directory is
   *  bound on itself. What is started from there is in it too, and so is what is opened there. Returns a descriptor of the one before. */
  export function enterOwnMounts(mountpoint: string): number;
  /** Back to the one before, whose descriptor is closed; the working directory stays. */
  export function leaveOwnMounts(former: number): void;
  /** Makes the root of a mount namespace read-only (/proc/PID/ns/mnt). The processes in it must stand still: this one goes in for that. */
  export function makeRootReadonly(namespace: string): void;
  /** open_tree(2): the tree of mounts at this directory once more, attached nowhere. It ends with its descriptor unless it is attached. Linux 5.2. */
  export function cloneMount(directory: number): number;
  /** move_mount(2): a detached mount onto this open directory. */
  export function attachMount(mount: number, directory: number): void;
  /** The mount that a descriptor is in: its id as in mountinfo, and (Linux 6.8) the one that no other mount gets before the next boot. Linux 5.8. */
  export function mountIds(fd: number): { readonly id: number; readonly unique?: bigint };
  /** umount2(2) with MNT_DETACH: the mount whose root is open here leaves its mount namespace, with all below it; what is mounted on that root goes first, alone. */
  export function detachMount(fd: number): void;
  /** Start a program (absolute path, whole argv) that goes on by itself, with this process's stdio and this environment (undefined = this
   *  process's own); descriptors of `inherit` as above. Returns the pid. */
  export function spawnPeer(path: string, argv: readonly string[], inherit: readonly number[], environment?: readonly string[]): number;
  /** Wait for one packet of a SOCK_SEQPACKET socket (at most 64 KiB; descriptors close-on-exec); undefined at end of file. */
  export function receivePacket(fd: number): { readonly data: ArrayBuffer; readonly fds: readonly number[] } | undefined;
  /** A memfd with this content, sealed against shrinking, growing and writing. */
  export function memfd(name: string, content: ArrayBuffer): number;
  /** A memfd of so many bytes (one page), mapped: what is stored in it, every reader of the descriptor sees. Its size is sealed. */
  export function sharedPage(name: string, size?: number): { readonly fd: number; readonly page: ArrayBuffer };
  /** SOCK_SEQPACKET pair. */
  export function socketpair(): [number, number];
  export interface Message {
    readonly type: number;
    readonly op: number;
    readonly errno: number;
    readonly value: number;
    readonly path: string;
    readonly text: string;
    /** Descriptors received, close-on-exec. */
    readonly fds: readonly number[];
  }
  /** Send one rendezvous message (wire form: src/shared/protocol/messages.ts), with a descriptor if given; in `page` stands that there is one. */
  export function sendMessage(fd: number, type: number, descriptor?: number, page?: ArrayBuffer): void;
  /** Receive one; undefined at end of file. timeoutMs -1 = wait for ever; throws ETIMEDOUT. `page`: looked at for a while before sleeping. */
  export function receiveMessage(fd: number, timeoutMs: number, page?: ArrayBuffer): Message | undefined;
  /** Poll for readability/writability/errors: bit masks as poll(2). Returns the revents, all 0 on time-out. */
  export function poll(fds: readonly number[], events: readonly number[], timeoutMs: number): number[];
  /** Connect to a unix stream socket by path (any length); "@name" is an abstract one. */
  export function connect(path: string): number;
  /** Connect a unix datagram socket, as connect does. */
  export function connectDatagram(path: string): number;
  /** A unix datagram socket bound at this path (any length), which must not exist; everybody may send to it. */
  export function bindDatagram(path: string): number;
  /** SO_PEERCRED: who has connected this unix socket, as it was then; as this process's user and pid namespaces have them. */
  export function peerCredentials(fd: number): { readonly pid: number; readonly uid: number; readonly gid: number };
  /** What has arrived on a stream socket, up to 64 KiB; empty at end of file. timeoutMs -1 = wait for ever; throws ETIMEDOUT. */
  export function receive(fd: number, timeoutMs: number): ArrayBuffer;
  /** Milliseconds of CLOCK_MONOTONIC. */
  export function monotonic(): number;
  /** Microseconds of CLOCK_MONOTONIC, with the nanoseconds behind the point. */
  export function clock(): number;
  /** `started`: clock() at the start of this process, when its command line has the word --trace, else 0. `heap`: bytes of the JavaScript
   *  heap that it has used at any time, without those of the image. */
  export function usage(): { readonly started: number; readonly heap: number };
  /** Call with the name and the value of each function of this module: what is returned, unless undefined, is what every importer sees from then on. */
  export function replaceExports(replacement: (name: string, original: (...args: never[]) => unknown) => unknown): void;
  /** strerror text in lower case as Go prints it: "no such file or directory". */
  export function strerror(errno: number): string;
  export function errnoName(errno: number): string;

  // ---- seccomp
  /** Version of the libseccomp in this executable: "2.6.0". */
  export const seccompVersion: string;
  export interface SeccompProgram {
    /** BPF, 8 bytes an instruction. */
    readonly program: ArrayBuffer;
    /** System calls of the profile that libseccomp does not know, in order. */
    readonly unknown: readonly string[];
    /** By architecture (AUDIT_ARCH_* token, the native one first): the highest system call number in the profile, -1 = none. */
    readonly highest: readonly { readonly architecture: number; readonly number: number }[];
  }
  /** Compile a profile with libseccomp. Lines, words separated by one blank, numbers decimal: `default ACTION`, `arch TOKEN`,
   *  `optimize LEVEL`, `rule ACTION CONDITIONS NAME...`, `known NAME...` (counted in `highest` only). CONDITIONS is `-` or
   *  INDEX:OPERATOR:A:B with commas between. Architectures are added to the native one. What libseccomp refuses throws with its
   *  function as `syscall` and the token or name as `path`. */
  export function seccompCompile(profile: string): SeccompProgram;
  /** Connect to a unix stream socket by path (any length), send the text with one descriptor (SCM_RIGHTS), close. */
  export function sendDescriptor(path: string, text: string, descriptor: number): void;
  /** One message on a connected socket, with a descriptor (-1 = none). */
  export function sendDatagram(fd: number, text: string, descriptor: number): void;

  // ---- network
  /** A NETLINK_ROUTE socket of this process's network namespace, or of the one behind a descriptor: it stays there. */
  export function netlinkOpen(namespace?: number): number;
  /** The next packet (at most 64 KiB) that the kernel has sent to a NETLINK_ROUTE socket; what others send there is dropped. */
  export function netlinkReceive(socket: number): ArrayBuffer;

  // ---- notifications
  /** eventfd(2), non-blocking, at 0. */
  export function eventfd(): number;
  /** An inotify(7) descriptor, non-blocking, that becomes readable when the file is modified. */
  export function watchModified(path: string): number;
  /** Read away all that a non-blocking descriptor has; whether there was anything. */
  export function drain(fd: number): boolean;

  // ---- cgroup devices (v2)
  /** BPF_PROG_LOAD of type CGROUP_DEVICE (8 bytes an instruction), licence Apache-2.0. */
  export function bpfLoadDeviceProgram(instructions: ArrayBuffer): number;
  export function bpfAttachDevice(cgroupFd: number, programFd: number, flags: number, replaceFd: number): void;
  export function bpfDetachDevice(cgroupFd: number, programFd: number): void;
  /** Descriptors of the device programs attached to the cgroup itself. */
  export function bpfQueryDevice(cgroupFd: number): number[];

  // ---- machines
  /** mount(2). `flags`: MS_* bits. */
  export function mount(source: string, target: string, type: string, flags: number, data: string): void;
  export function chroot(path: string): void;
  /** finit_module(2) of an uncompressed module; one that is there already is no error. */
  export function insertModule(path: string): void;
  /** pipe2(2): the end to read from, then the end to write to. */
  export function pipe(): [number, number];
  /** A pair of unix stream sockets. */
  export function streamPair(): [number, number];
  /** O_NONBLOCK of the open file, for everybody who has it. */
  export function setNonBlocking(fd: number): void;
  /** One read(2) of at most so many bytes (up to 64 KiB): empty at end of file, undefined when nothing is there now. */
  export function readSome(fd: number, most: number): ArrayBuffer | undefined;
  /** One write(2) of at most so many bytes from an offset on: how many went; 0 when nothing goes now. */
  export function writeSome(fd: number, data: ArrayBuffer, offset: number, most: number): number;
  /** A signalfd(2) of all signals, which have to be blocked. */
  export function signalDescriptor(): number;
  /** The number of the next signal there; 0: none. */
  export function nextSignal(fd: number): number;
  /** A unix stream socket bound at this path (at most 107 bytes), which must not exist, and listening. */
  export function listen(path: string): number;
  export function accept(fd: number): number;
  /** The terminal hands on every byte as it is (cfmakeraw(3)). */
  export function makeRaw(fd: number): void;
  export function setWindowSize(fd: number, rows: number, columns: number): void;
  /** Start a program (absolute path, whole argv, whole environment) with these three descriptors as its stdio; those of `inherit` keep their
   *  numbers. It gets SIGKILL when this process dies. `user`: it becomes this user, of the group with the same number and no other, with an
   *  empty bounding set (root: with what it needs for becoming another user by itself), and gains no privileges any more. Returns the pid. */
  export function spawnCompanion(
    path: string,
    argv: readonly string[],
    environment: readonly string[],
    stdio: readonly [number, number, number],
    inherit: readonly number[],
    user?: number,
  ): number;
  /** Bits of capabilities(7), 1n << CAP_*: this process keeps those and loses all others from every set, also from the bounding set. */
  export function limitCapabilities(kept: bigint): void;
  /** seccomp(2): this process has no_new_privs and this filter (BPF of `seccompCompile`) from now on. */
  export function installFilter(program: ArrayBuffer): void;
}
