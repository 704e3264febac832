import * as host from "../../../src/runtime/host/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

const PATIENCE_MS = 20;

export const streamTests: readonly Test[] = [
  [
    "standard streams: files with mount and inode, pipes by their names, and what is closed",
    () => {
      const streams = host.standardStreams("self");
      equal(streams.length, 3);
      for (const [fd, stream] of streams.entries()) {
        const link = host.readlink(`/proc/self/fd/${fd}`);
        equal(stream?.link, link);
        equal(stream?.inode, link.startsWith("/") ? BigInt(host.fstat(fd).ino) : undefined);
        const mount = /^mnt_id:\s*(\d+)$/m.exec(host.readFile(`/proc/self/fdinfo/${fd}`, undefined, true))?.[1];
        equal(stream?.mountId, link.startsWith("/") ? Number(mount) : undefined);
      }
      const kept = host.openat(-100, "/dev/null", host.O.RDONLY);
      host.close(0);
      equal(host.standardStreams(String(host.getpid()))[0], undefined);
      // The lowest number that is free.
      equal(host.open("/dev/null", host.O.RDONLY), 0);
      host.close(kept);
      equal(host.standardStreams("1x"), [undefined, undefined, undefined]);
    },
  ],
  ["connect to nobody", () => throws("ENOENT", () => host.connect("/nonexistent/socket"))],
  ["connect to what is no socket", () => throws("ECONNREFUSED", () => host.connect("/proc/self/exe"))],
  ["connect to an abstract socket that is not there", () => throws("ECONNREFUSED", () => host.connect("@runt-test-nobody"))],
  ["an abstract name that is too long", () => throws("ENAMETOOLONG", () => host.connect(`@${"x".repeat(108)}`))],
  [
    "receive: nothing yet, something, the end",
    () => {
      const [ours, theirs] = host.socketpair();
      throws("ETIMEDOUT", () => host.receive(ours, PATIENCE_MS));
      host.sendMessage(theirs, 7);
      equal([...new Uint8Array(host.receive(ours, PATIENCE_MS))].slice(0, 4), [7, 0, 0, 0]);
      host.close(theirs);
      equal(host.receive(ours, PATIENCE_MS).byteLength, 0);
      host.close(ours);
    },
  ],
  ["receive from what is no socket", () => throws("ENOTSOCK", () => host.receive(host.open("/dev/null", host.O.RDONLY), 0))],
  [
    "datagrams: bind, connect, everybody may send, by a path of any length",
    () => {
      const directory = `/tmp/runt-test-datagram-${host.getpid()}`;
      const deep = `${directory}/${"x".repeat(120)}`;
      const path = `${deep}/socket`;
      host.mkdir(directory, 0o700);
      host.mkdir(deep, 0o700);
      try {
        const receiver = host.bindDatagram(path);
        equal((host.lstat(path)?.mode ?? 0) & 0o777, 0o777);
        const sender = host.connectDatagram(path);
        host.write(sender, "one");
        host.write(sender, "two");
        equal(host.utf8Decode(host.receive(receiver, PATIENCE_MS)), "one");
        equal(host.utf8Decode(host.receive(receiver, PATIENCE_MS)), "two");
        throws("EADDRINUSE", () => host.bindDatagram(path));
        throws("EPROTOTYPE", () => host.connect(path));
        throws("ENAMETOOLONG", () => host.bindDatagram(`${directory}/${"y".repeat(120)}`));
        host.close(receiver);
        host.close(sender);
        throws("ECONNREFUSED", () => host.connectDatagram(path));
        host.unlink(path);
      } finally {
        host.rmdir(deep);
        host.rmdir(directory);
      }
    },
  ],
  ["a datagram socket in no directory", () => throws("ENOENT", () => host.bindDatagram("/nonexistent/socket"))],
  [
    "monotonic",
    () => {
      const before = host.monotonic();
      host.sleep(PATIENCE_MS);
      const passed = host.monotonic() - before;
      ok(passed >= PATIENCE_MS && passed < 10_000, `${passed} ms have passed`);
    },
  ],
];
