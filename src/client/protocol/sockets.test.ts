import { expect, test } from "vitest";
import { socketsIn } from "./sockets.ts";

test.each([
  [{ socket: "/a", runDir: "/d", environment: { RUNTD_SOCKET: "/b" } }, ["/a"]],
  [{ socket: undefined, runDir: "/d", environment: { RUNTD_SOCKET: "/b" } }, ["/d/admin.sock", "/d/read.sock"]],
  [{ socket: undefined, runDir: undefined, environment: { RUNTD_SOCKET: "/b" } }, ["/b"]],
  [{ socket: undefined, runDir: undefined, environment: {} }, ["/run/runtd/admin.sock", "/run/runtd/read.sock"]],
])("%j is %j", (choice, sockets) => {
  expect(socketsIn(choice)).toEqual(sockets);
});
