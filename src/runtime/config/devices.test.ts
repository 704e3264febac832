import { expect, it } from "vitest";
import { DEFAULT_DEVICES, deriveDevices, mountedInDev } from "./devices.ts";

it("has the six default nodes", () => {
  expect(deriveDevices([]).map(({ path, major, minor }) => `${path} ${major}:${minor}`)).toEqual([
    "/dev/null 1:3",
    "/dev/zero 1:5",
    "/dev/full 1:7",
    "/dev/random 1:8",
    "/dev/urandom 1:9",
    "/dev/tty 5:0",
  ]);
  expect(deriveDevices([]).every(({ mode, uid, gid }) => mode === 0o666 && uid === 0 && gid === 0)).toBe(true);
});

it("adds the devices of the configuration, with defaults", () => {
  expect(deriveDevices([{ path: "/opt/dev/x", type: "u", major: 10, minor: 200 }]).at(-1)).toEqual({
    from: "/linux/devices/0",
    path: "/opt/dev/x",
    type: "c",
    major: 10,
    minor: 200,
    mode: 0o666,
    uid: 0,
    gid: 0,
  });
});

it("lets the configuration win over a default of the same path, in its place", () => {
  const devices = deriveDevices([{ path: "/dev//null", type: "c", major: 1, minor: 3, fileMode: 0o100600, uid: 7, gid: 8 }]);
  expect(devices).toHaveLength(DEFAULT_DEVICES.length);
  expect(devices[0]).toMatchObject({ path: "/dev/null", mode: 0o600, uid: 7, gid: 8, from: "/linux/devices/0" });
});

it("ignores numbers of a fifo", () => {
  expect(deriveDevices([{ path: "/dev/f", type: "p", major: 3, minor: 4 }]).at(-1)).toMatchObject({ type: "p", major: 0, minor: 0 });
});

it("leaves out defaults over which something is mounted, and /dev/ptmx, which is a link", () => {
  const mount = (destination: string, ...options: string[]) => ({ destination, options });
  const list = (...mounts: ReturnType<typeof mount>[]) => [...mountedInDev(mounts)];
  expect(list(mount("/dev/null"), mount("dev//tty"), mount("/opt"), mount("/dev/zero", "remount"))).toEqual(["/dev/null", "/dev/tty"]);
  expect(list(mount("/dev/null"), mount("/dev/"), mount("/dev/pts"))).toEqual(["/dev/pts"]);
  const asked = { path: "/dev/tty", type: "c", major: 5, minor: 0 };
  const paths = deriveDevices([asked, { ...asked, path: "/dev/ptmx", minor: 2 }], new Set(["/dev/null", "/dev/tty"])).map(
    ({ path }) => path,
  );
  expect(paths).toEqual(["/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"]);
});
