/** The D-Bus connection against the reference implementation: a dbus-daemon of the test's own, busctl and dbus-send. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, DBUS_DAEMON, startDaemon } from "../support/bus-daemon.ts";
import { joinBus, type Service } from "../support/bus-service.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY } from "../support/programs.ts";

const run = promisify(execFile);
const CLIENT = join(REPOSITORY, "build/test/dbus/client");
const SERVICE = "test.Echo";
const busctl = existsSync("/usr/bin/busctl");
const dbusSend = existsSync("/usr/bin/dbus-send");

describe.skipIf(DBUS_DAEMON === undefined)("on a real bus (needs dbus-daemon)", () => {
  let directory: string;
  let daemon: Daemon | undefined;
  let echo: Service | undefined;

  beforeAll(async () => {
    execFileSync(join(REPOSITORY, "test/native/dbus/build.sh"), { stdio: "pipe" });
    directory = mkdtempSync(join(tmpdir(), "runt-dbus-"));
    daemon = await startDaemon(directory);
    echo = await joinBus(daemon.socket, SERVICE, ({ member, values, message }) => {
      if (member !== "Echo") return [{ error: "test.Echo.Unknown", text: `no ${member} here` }];
      return [{ reply: values, ...(message.signature === undefined ? {} : { signature: message.signature }) }];
    });
  });

  afterAll(() => {
    echo?.close();
    daemon?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const bus = () => daemon!;
  const client = async (...args: readonly string[]) => (await run(CLIENT, [...args], { timeout: PATIENCE_MS })).stdout.trim();
  const address = () => `--address=unix:path=${bus().socket}`;

  test("every type goes through the daemon, which checks it, and comes back as it was", async () => {
    expect(await client(bus().socket, "echo", SERVICE)).toBe("equal");
  });

  test.skipIf(!busctl)("the owner of a name is who busctl says", async () => {
    const call = ["org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner"];
    const { stdout } = await run("busctl", [address(), "call", ...call, "s", SERVICE]);
    expect(await client(bus().socket, "owner", SERVICE)).toBe(stdout.trim().replace(/^s "(.*)"$/, "$1"));
  });

  test("an error of a service", async () => {
    expect(await client(bus().socket, "owner", "nobody.here")).toBe("BusError: Could not get owner of name 'nobody.here': no such name");
  });

  test("an abstract socket", async () => {
    expect(await client(`@${bus().abstract}`, "hello")).toBe("connected");
  });

  test("a path that is longer than a socket address", async () => {
    const deep = join(directory, "x".repeat(200));
    mkdirSync(deep);
    execFileSync("ln", ["-s", bus().socket, join(deep, "bus")]);
    expect(await client(join(deep, "bus"), "hello")).toBe("connected");
  });

  test("a daemon that wants another authentication", async () => {
    const other = await startDaemon(directory, "DBUS_COOKIE_SHA1");
    try {
      expect(await client(other.socket, "hello")).toMatch(/^Error: authentication refused: REJECTED DBUS_COOKIE_SHA1$/);
    } finally {
      other.close();
    }
  });

  test("nobody there", async () => {
    expect(await client(join(directory, "nobody"), "hello")).toMatch(/^Error: .*no such file or directory/i);
  });

  test.skipIf(!busctl).each([
    ["s", ["text ä"], 's "text \\303\\244"'],
    ["as", ["2", "a", "b c"], 'as 2 "a" "b c"'],
    ["as", ["0"], "as 0"],
    ["tx", ["18446744073709551615", "-9223372036854775808"], "tx 18446744073709551615 -9223372036854775808"],
    ["ynqiu", ["255", "-1", "65535", "-5", "7"], "ynqiu 255 -1 65535 -5 7"],
    ["b", ["true"], "b true"],
    ["d", ["1.5"], "d 1.5"],
    ["o", ["/a/b"], 'o "/a/b"'],
    ["a(ss)", ["2", "a", "b", "c", "d"], 'a(ss) 2 "a" "b" "c" "d"'],
    ["a{sv}", ["2", "k", "t", "5", "l", "as", "1", "x"], 'a{sv} 2 "k" t 5 "l" as 1 "x"'],
    ["ssa(sv)a(sa(sv))", ["u", "replace", "1", "PIDs", "au", "1", "42", "0"], 'ssa(sv)a(sa(sv)) "u" "replace" 1 "PIDs" au 1 42 0'],
    ["ayv", ["3", "1", "2", "3", "(yt)", "1", "2"], "ayv 3 1 2 3 (yt) 1 2"],
  ])("busctl sends %s %j and reads the same", async (signature, values, printed) => {
    const { stdout } = await run("busctl", [address(), "--", "call", SERVICE, "/echo", SERVICE, "Echo", signature, ...values]);
    expect(stdout.trim()).toBe(printed);
  });

  test.skipIf(!dbusSend)("dbus-send sends a dictionary and reads the same", async () => {
    const words = ["--print-reply=literal", `--dest=${SERVICE}`, "/echo", `${SERVICE}.Echo`];
    const { stdout } = await run("dbus-send", [
      `--bus=unix:path=${bus().socket}`,
      ...words,
      "dict:string:uint32:one,1,two,2",
      "variant:int64:-7",
    ]);
    expect(stdout.replace(/\s+/g, " ").trim()).toBe("array [ dict entry( one uint32 1 ) dict entry( two uint32 2 ) ] variant int64 -7");
  });
});
