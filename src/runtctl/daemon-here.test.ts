import { expect, test } from "vitest";
import { howToStart } from "./daemon-here.ts";

const host = (...files: string[]) => ({
  exists: (path: string) => files.includes(path),
  program: "/src/runt/bin/runtctl",
  path: "/bin:/usr/bin",
});
const UNIT = "/usr/lib/systemd/system/runtd.service";

test.each([
  ["/run/runtd/admin.sock", ["/run/systemd/system", UNIT, "/usr/bin/runtd"], "systemctl start runtd"],
  ["/run/runtd/admin.sock", [UNIT, "/src/runt/bin/runtd", "/usr/bin/runtd"], "/src/runt/bin/runtd"],
  ["/run/runtd/admin.sock", ["/usr/bin/runtd"], "runtd"],
  ["/tmp/a/read.sock", ["/run/systemd/system", UNIT, "/src/runt/bin/runtd"], "/src/runt/bin/runtd --run-dir /tmp/a"],
])("%s on a host with %s", (socket, files, command) => {
  expect(howToStart(socket, host(...files))).toBe(`Start it as root with: ${command}`);
});

test("nothing is said where no daemon is installed, and of a socket that no daemon would make", () => {
  expect(howToStart("/run/runtd/admin.sock", host())).toBeUndefined();
  expect(howToStart("/tmp/some.socket", host("/usr/bin/runtd"))).toBeUndefined();
});
