import { describe, expect, test } from "vitest";
import { managerSockets, parseAddress, parseRoot } from "./connect.ts";

const texts = (...args: Parameters<typeof managerSockets>) =>
  managerSockets(...args).map(({ socket, direct }) => `${direct ? "direct " : ""}${socket}`);

describe("the system's manager", () => {
  test("root: the bus before its own socket", () => {
    expect(texts(false, 0, {})).toEqual(["/run/dbus/system_bus_socket", "direct /run/systemd/private"]);
  });

  test("others have the bus only", () => {
    expect(texts(false, 1000, {})).toEqual(["/run/dbus/system_bus_socket"]);
  });

  test("an address in the environment replaces both", () => {
    expect(texts(false, 0, { DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/tmp/bus" })).toEqual(["/tmp/bus"]);
    expect(texts(false, 0, { DBUS_SYSTEM_BUS_ADDRESS: "" })).toHaveLength(2);
  });
});

describe("a user's manager", () => {
  test("below XDG_RUNTIME_DIR", () => {
    expect(texts(true, 1000, { XDG_RUNTIME_DIR: "/r" })).toEqual(["direct /r/systemd/private", "/r/bus"]);
  });

  test("or where it usually is", () => {
    expect(texts(true, 1000, {})).toEqual(["direct /run/user/1000/systemd/private", "/run/user/1000/bus"]);
  });

  test("the session's bus by its address; the system's is another one", () => {
    const environment = {
      XDG_RUNTIME_DIR: "/r",
      DBUS_SESSION_BUS_ADDRESS: "unix:abstract=/tmp/x,guid=1",
      DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/y",
    };
    expect(texts(true, 1000, environment)).toEqual(["direct /r/systemd/private", "@/tmp/x"]);
  });
});

test.each([
  ["unix:path=/run/user/1000/bus", ["/run/user/1000/bus"]],
  ["unix:path=/a,guid=0123;unix:abstract=b", ["/a", "@b"]],
  ["unix:guid=1,path=/a%20b%2c", ["/a b,"]],
  ["tcp:host=localhost,port=1;unix:path=/a", ["/a"]],
  ["unix:path=/a%zz", []],
  ["unix:tmpdir=/tmp", []],
  ["autolaunch:", []],
  ["", []],
])("%s", (text, expected) => {
  expect(parseAddress(text)).toEqual(expected);
});

test.each([
  ["the system's, v2", "0::/init.scope\n", ""],
  ["the system's in a container", "0::/machine.slice/a.scope/init.scope\n", "/machine.slice/a.scope"],
  ["a user's", "0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", "/user.slice/user-1000.slice/user@1000.service"],
  ["hybrid: the same in both hierarchies", "4:memory:/\n1:name=systemd:/init.scope\n0::/init.scope\n", ""],
  ["v1", "4:memory:/init.scope2\n1:name=systemd:/a/init.scope\n", "/a"],
  ["v2, and a hierarchy of that name that it does not use", "9:name=systemd:/\n0::/init.scope\n", ""],
  ["another place", "0::/system.slice/other.service\n", undefined],
  ["a name that only ends like it", "0::/my-init.scope\n", undefined],
  ["two that differ", "1:name=systemd:/a/init.scope\n0::/b/init.scope\n", undefined],
  ["a controller of v1 is none of its own", "4:memory:/init.scope\n", undefined],
  ["nothing", "", undefined],
])("%s", (_, text, root) => {
  expect(parseRoot(text)).toBe(root);
});
