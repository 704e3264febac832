import { describe, expect, test } from "vitest";
import { managerSockets, parseAddress } from "./address.ts";

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
