import * as host from "../../../src/runtime/host/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

const { O, LOCK } = host;
const directory = `/tmp/runt-host-test-${host.getpid()}`;

/** In a fresh directory that is gone afterwards. */
function inDirectory(test: (directory: string) => void): () => void {
  return () => {
    host.mkdir(directory, 0o700);
    try {
      test(directory);
    } finally {
      for (const name of host.readdir(directory)) host.unlink(`${directory}/${name}`);
      host.rmdir(directory);
    }
  };
}

export const fileTests: readonly Test[] = [
  [
    "writeFile and readFile",
    inDirectory((at) => {
      host.writeFile(`${at}/a`, "päth", O.WRONLY | O.CREAT | O.EXCL, 0o640);
      equal(host.readFile(`${at}/a`), "päth");
      throws("EEXIST", () => host.writeFile(`${at}/a`, "", O.WRONLY | O.CREAT | O.EXCL, 0o600));
      host.writeFile(`${at}/a`, "+", O.WRONLY | O.APPEND, 0);
      equal(host.readFile(`${at}/a`), "päth+");
      throws("EFBIG", () => host.readFile(`${at}/a`, 5));
      equal(host.readFile(`${at}/a`, 6), "päth+");
    }),
  ],
  [
    "readFile of a long file",
    inDirectory((at) => {
      const text = "0123456789abcdef".repeat(65536);
      host.writeFile(`${at}/a`, text, O.WRONLY | O.CREAT, 0o600);
      ok(host.readFile(`${at}/a`) === text, "the content differs");
    }),
  ],
  ["readFile of proc", () => ok(host.readFile("/proc/self/status").includes("Name:"), "no Name: in /proc/self/status")],
  ["readFile of a device", () => throws("EINVAL", () => host.readFile("/dev/null"))],
  ["readFile of any type", () => equal(host.readFile("/dev/null", 10, true), "")],
  ["readFile of a directory", () => throws("EISDIR", () => host.readFile("/"))],
  [
    "readFile of a fifo does not block",
    inDirectory((at) => {
      host.mkfifo(`${at}/f`, 0o600);
      throws("EINVAL", () => host.readFile(`${at}/f`));
      throws("ENXIO", () => host.open(`${at}/f`, O.WRONLY | O.NONBLOCK));
    }),
  ],
  [
    "readFile refuses what is not UTF-8",
    inDirectory((at) => {
      const fd = host.open(`${at}/a`, O.WRONLY | O.CREAT, 0o600);
      host.write(fd, new Uint8Array([0x61, 0xff]).buffer as ArrayBuffer);
      host.close(fd);
      throws("EILSEQ", () => host.readFile(`${at}/a`));
    }),
  ],
  [
    "an error tells everything",
    () => {
      try {
        host.open("/no/such", O.RDONLY);
      } catch (error) {
        const { errno, code, syscall, path, message } = error as host.HostError;
        return equal([errno, code, syscall, path, message], [2, "ENOENT", "open", "/no/such", "open /no/such: no such file or directory"]);
      }
      throw new Error("nothing thrown");
    },
  ],
  ["a path with NUL", () => throws("EINVAL", () => host.open("/tmp\0/x", O.RDONLY))],
  [
    "stat and friends",
    inDirectory((at) => {
      host.writeFile(`${at}/a`, "12345", O.WRONLY | O.CREAT, 0o600);
      host.symlink("a", `${at}/l`);
      host.chmod(`${at}/a`, 0o4751);
      host.chown(`${at}/a`, 12, 4_294_967_294);
      const status = host.stat(`${at}/l`);
      equal([status?.mode, status?.uid, status?.gid, status?.size, status?.nlink], [0o104751 & ~0o4000, 12, 4_294_967_294, 5, 1]);
      equal((host.lstat(`${at}/l`)?.mode ?? 0) & host.S.IFMT, host.S.IFLNK);
      const fd = host.open(`${at}/a`, O.RDONLY);
      ok(host.fstat(fd).ino === status?.ino && host.fstat(fd).dev === status?.dev, "fstat differs from stat");
      equal(host.readFd(fd), "12345");
      host.close(fd);
      throws("EBADF", () => host.close(fd));
      equal([host.stat(`${at}/no`), host.stat(`${at}/a/b`)], [undefined, undefined]);
      equal([host.readlink(`${at}/l`), host.realpath(`${at}/./l`)], ["a", `${at}/a`]);
      host.rename(`${at}/a`, `${at}/b`);
      equal(host.readdir(at).sort(), ["b", "l"]);
      throws("ENOENT", () => host.realpath(`${at}/l`));
    }),
  ],
  ["stat of a device", () => equal([host.stat("/dev/null")?.rdevMajor, host.stat("/dev/null")?.rdevMinor], [1, 3])],
  ["statfsType", () => equal(host.statfsType("/proc"), 0x9fa0)],
  ["access", () => equal([host.access("/", 4), host.access("/no/such", 0)], [true, false])],
  [
    "openat",
    () => {
      const proc = host.open("/proc", O.PATH | O.DIRECTORY);
      const fd = host.openat(proc, "self/stat", O.RDONLY);
      ok(host.readFd(fd).startsWith(String(host.getpid())), "another stat");
      host.close(fd);
      host.close(proc);
    },
  ],
  [
    "flock",
    inDirectory((at) => {
      const first = host.open(`${at}/a`, O.RDWR | O.CREAT, 0o600);
      const second = host.open(`${at}/a`, O.RDWR);
      equal([host.flock(first, LOCK.EX), host.flock(second, LOCK.EX | LOCK.NB)], [true, false]);
      equal([host.flock(first, LOCK.UN), host.flock(second, LOCK.EX | LOCK.NB)], [true, true]);
      host.fsync(first);
      host.close(first);
      host.close(second);
    }),
  ],
  [
    "readFd of a FIFO gives what it has",
    inDirectory((at) => {
      host.mkfifo(`${at}/f`, 0o600);
      const fifo = host.open(`${at}/f`, O.RDWR | O.NONBLOCK);
      throws("EAGAIN", () => host.readFd(fifo));
      host.write(fifo, "half");
      equal(host.readFd(fifo), "half");
      host.close(fifo);
    }),
  ],
  [
    "extended attributes",
    inDirectory((at) => {
      host.writeFile(`${at}/a`, "", O.WRONLY | O.CREAT, 0o600);
      equal(host.getxattr(`${at}/a`, "trusted.runt"), undefined);
      host.setxattr(`${at}/a`, "trusted.runt", "välue");
      equal(host.getxattr(`${at}/a`, "trusted.runt"), "välue");
      equal(host.getxattr(`${at}/absent`, "trusted.runt"), null);
    }),
  ],
  [
    "cwd and chdir",
    inDirectory((at) => {
      const before = host.cwd();
      host.chdir(at);
      equal(host.cwd(), at);
      host.chdir(before);
      throws("ENOENT", () => host.chdir("/no/such"));
    }),
  ],
  [
    "umask",
    () => {
      const before = host.umask(0o27);
      equal(host.umask(before), 0o27);
    },
  ],
  ["descriptors", () => equal([host.fdIsOpen(2), host.fdIsOpen(250), host.isatty(250)], [true, false, false])],
];
