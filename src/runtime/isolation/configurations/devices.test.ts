import { describe, expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { type DeviceParts, deviceParts, type HostNode } from "./devices.ts";

const NODES: Readonly<Record<string, HostNode>> = {
  "/dev/sda": { type: "b", major: 8, minor: 0 },
  "/dev/fixed": { type: "b", major: 11, minor: 0 },
  "/dev/net/tun": { type: "c", major: 10, minor: 200 },
  "/dev/mem": { type: "c", major: 1, minor: 1 },
};

const parts = ({ devices = [], rules = [], mounts = [] }: { devices?: object[]; rules?: object[]; mounts?: object[] }): DeviceParts =>
  deviceParts({ linux: { devices, resources: { devices: rules } }, mounts } as unknown as Spec, (path) => path, {
    nodeAt: (path) => NODES[path],
    isReadonly: ({ major }) => major === 11,
  });

const disk = (major: number, minor = 0) => ({ type: "b", path: `/dev/d${major}`, major, minor });
const bind = (source: string, ...options: string[]) => ({ destination: "/dev/x", type: "bind", source, options: ["bind", ...options] });

describe("the devices of a container in a machine", () => {
  it("are read-only disks where the first rule of exactly that device does not let it write, or where the host does not", () => {
    const rules = [
      { allow: true, access: "rwm" },
      { allow: true, type: "b", major: 8, access: "rw" },
      { allow: false, type: "b", major: 8, minor: 0, access: "w" },
      { allow: true, type: "b", major: 8, minor: 0, access: "rm" },
      { allow: true, type: "b", major: 8, minor: 0, access: "rw" },
      { allow: true, type: "c", major: 9, minor: 0, access: "r" },
      { allow: true, type: "b", major: 12, minor: 0 },
    ];
    const { disks, modules } = parts({ devices: [disk(8), disk(9), disk(11), disk(12)], rules });
    expect(disks).toEqual([
      { major: 8, minor: 0, readonly: true },
      { major: 9, minor: 0, readonly: false },
      { major: 11, minor: 0, readonly: true },
      { major: 12, minor: 0, readonly: false },
    ]);
    expect(modules).toEqual(["virtio_blk"]);
  });

  it("come by bind mounts, too: a disk once, and a character device from the guest", () => {
    const mounts = [bind("/dev/sda", "ro"), bind("/dev/net/tun"), bind("/etc/hosts"), bind("/dev/sda"), bind("/dev/fixed")];
    const { disks, modules, sources } = parts({ mounts });
    expect(disks).toEqual([
      { major: 8, minor: 0, readonly: false },
      { major: 11, minor: 0, readonly: true },
    ]);
    expect(modules).toEqual(["virtio_blk", "tun"]);
    expect([...sources]).toEqual([
      [0, "/run/disks/8:0"],
      [1, "/dev/net/tun"],
      [3, "/run/disks/8:0"],
      [4, "/run/disks/11:0"],
    ]);
  });

  it("are refused by their numbers where the guest has none", () => {
    expect(() => parts({ mounts: [bind("/etc/hosts"), bind("/dev/mem")] })).toThrow(
      "a container in a machine cannot have the character device 1:1 (/dev/mem): the guest's kernel has none of this number",
    );
    expect(() => parts({ devices: [{ type: "u", path: "/dev/kvm", major: 10, minor: 232 }] })).toThrow("10:232 (/dev/kvm)");
    expect(() => parts({ devices: Array.from({ length: 17 }, (_, minor) => disk(8, minor)) })).toThrow("more than 16 block devices");
    expect(
      parts({
        devices: [
          { type: "p", path: "/dev/fifo" },
          { type: "c", path: "/dev/fuse", major: 10, minor: 229 },
        ],
      }),
    ).toEqual({
      ...{ disks: [], modules: [], sources: new Map() },
    });
  });
});
