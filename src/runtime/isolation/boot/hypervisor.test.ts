import { describe, expect, it } from "vitest";
import type { MachineRequest } from "../request.ts";
import { fileServerArguments, hypervisorArguments, probeArguments } from "./hypervisor.ts";

const REQUEST = {
  cacheMiB: 32,
  console: false,
  cpus: 2,
  hypervisor: "/qemu",
  memoryMiB: 256,
  sharedMemoryKiB: 65_536,
  user: 65_534,
  kernelParameters: ["debug", "mitigations=auto"],
  fileCache: "never",
} as unknown as MachineRequest;
const NIC = { name: "eth0", hardwareAddress: "02:00:00:00:00:01", mtu: 1400, addresses: [], routes: [] };

/** What follows an option, for each time that it is there. */
const valuesOf = (words: readonly string[], option: string): string[] =>
  words.flatMap((word, at) => (words[at - 1] === option ? word : []));

describe("the command line of the hypervisor", () => {
  it("has no network and no way to become another user without an interface", () => {
    const words = hypervisorArguments(REQUEST, "tcg", 9, []);
    expect(words).not.toContain("-netdev");
    expect(words).not.toContain("-runas");
    expect(valuesOf(words, "-sandbox")).toEqual(["on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"]);
  });

  it("K10: has the kernel parameters that were asked for behind its own, and before what the first process is told", () => {
    const [words] = valuesOf(hypervisorArguments(REQUEST, "tcg", 9, []), "-append");
    expect(words).toMatch(/ mitigations=off .*rdinit=\/runt debug mitigations=auto -- machine-guest 65536$/);
    expect(fileServerArguments(REQUEST, 3).at(-1)).toContain(",cache=none,");
    expect(fileServerArguments({ ...REQUEST, fileCache: "auto" }, 3).at(-1)).toContain(",cache=auto,");
  });

  it("has a tap for each interface, and gives up its rights by itself then", () => {
    const words = hypervisorArguments(REQUEST, "tcg", 9, [NIC, { ...NIC, hardwareAddress: "02:00:00:00:00:02", mtu: 9000 }]);
    expect(valuesOf(words, "-netdev")).toEqual(
      [0, 1].map((number) => `tap,id=net${number},ifname=runt-tap${number},script=no,downscript=no`),
    );
    expect(valuesOf(words, "-device").filter((device) => device.startsWith("virtio-net-pci"))).toEqual([
      "virtio-net-pci,netdev=net0,mac=02:00:00:00:00:01,host_mtu=1400,romfile=",
      "virtio-net-pci,netdev=net1,mac=02:00:00:00:00:02,host_mtu=9000,romfile=",
    ]);
    expect(valuesOf(words, "-runas")).toEqual(["65534:65534"]);
    expect(valuesOf(words, "-sandbox")).toEqual(["on,obsolete=deny,elevateprivileges=allow,spawn=deny,resourcecontrol=deny"]);
  });

  it("has disks by their descriptors, never by a name, without requests to discard", () => {
    const words = hypervisorArguments(
      REQUEST,
      "tcg",
      9,
      [],
      [
        { fd: 20, readonly: false },
        { fd: 21, readonly: true },
      ],
    );
    expect(valuesOf(words, "-add-fd")).toEqual(["fd=20,set=1", "fd=21,set=2"]);
    const node = { driver: "host_device", "auto-read-only": false, discard: "ignore" };
    expect(valuesOf(words, "-blockdev").map((text) => JSON.parse(text))).toEqual([
      { ...node, "node-name": "disk0", filename: "/dev/fdset/1", "read-only": false },
      { ...node, "node-name": "disk1", filename: "/dev/fdset/2", "read-only": true },
    ]);
    expect(valuesOf(words, "-device").filter((device) => device.startsWith("virtio-blk"))).toEqual(
      [0, 1].map((number) => `virtio-blk-pci,drive=disk${number},serial=runt-${number},discard=off,write-zeroes=off`),
    );
  });

  it("has KVM where that boots, and for a guest that shows it nothing but the channel", () => {
    expect(valuesOf(hypervisorArguments(REQUEST, "kvm", 9, []), "-accel")).toEqual(["kvm"]);
    expect(valuesOf(hypervisorArguments(REQUEST, "tcg", 9, []), "-accel")).toEqual(["tcg,thread=multi,tb-size=32"]);
    const probe = probeArguments(REQUEST, 9);
    expect(valuesOf(probe, "-accel")).toEqual(["kvm"]);
    expect(valuesOf(probe, "-append")[0]).toMatch(/ -- machine-probe$/);
    expect(valuesOf(probe, "-device")).toEqual(["virtio-serial-pci,max_ports=2", "virtserialport,chardev=channel,name=runt"]);
  });
});
