import * as host from "../../../src/runtime/host/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

const FILE = `/tmp/runt-selftest-notify-${host.getpid()}`;
const readable = (fd: number) => host.poll([fd], [host.POLL.IN], 0)[0] === host.POLL.IN;

export const notifyTests: readonly Test[] = [
  [
    "eventfd and drain",
    () => {
      const fd = host.eventfd();
      equal([readable(fd), host.drain(fd)], [false, false]);
      host.write(fd, new BigUint64Array([5n]).buffer);
      equal([readable(fd), host.drain(fd), host.drain(fd), readable(fd)], [true, true, false, false]);
      host.close(fd);
    },
  ],
  [
    "watchModified and drain",
    () => {
      const write = (text: string) => host.writeFile(FILE, text, host.O.WRONLY | host.O.CREAT, 0o600);
      write("a");
      const fd = host.watchModified(FILE);
      equal([readable(fd), host.drain(fd)], [false, false]);
      for (let count = 0; count < 500; count++) write(String(count));
      ok(readable(fd), "the file was modified");
      equal([host.drain(fd), readable(fd)], [true, false]);
      host.close(fd);
      host.unlink(FILE);
    },
  ],
  ["watchModified of no file", () => throws("ENOENT", () => host.watchModified(FILE))],
  ["drain of no descriptor", () => throws("EBADF", () => host.drain(999))],
];
