import { expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { findProblems } from "../checks.ts";
import type { CheckFacts } from "../finding.ts";
import { netDevices, netDeviceTargets } from "./net-devices.ts";

const NETWORK = [{ type: "network" }];
type Devices = NonNullable<NonNullable<Spec["linux"]>["netDevices"]>;

function problems(devices: Devices, namespaces = NETWORK, facts: CheckFacts = {}): string[] {
  const spec: Spec = {
    ociVersion: "1.3.0",
    root: { path: "r" },
    process: { cwd: "/", args: ["sh"] },
    linux: { namespaces, netDevices: devices },
  };
  return findProblems(spec, facts, [netDevices, netDeviceTargets]).map(({ code, pointer }) => `${code} ${pointer}`);
}

it.each<[string, Devices]>([
  ["a device under its own name", { eth0: {} }],
  ["a name of 15 bytes", { eth0: { name: "exactly-15-byte" } }],
  ["a template, twice", { eth0: { name: "net%d" }, eth1: { name: "net%d" } }],
  ["a number in the middle", { eth0: { name: "a%db" } }],
  ["names that change places", { eth0: { name: "eth1" }, eth1: { name: "eth0" } }],
  ["an empty name", { eth0: { name: "" } }],
])("accepts %s", (_, devices) => expect(problems(devices)).toEqual([]));

it.each(["", "exactly-16-bytes", "ääääääää", ".", "..", "a:b", "a b", "a\tb", "a\0", "a%d"])("refuses to look for a device %j", (name) => {
  expect(problems({ [name]: { name: "eth0" } })).toEqual([`net-device-name /linux/netDevices/${name}`]);
});

it.each(["exactly-16-bytes", ".", "..", "a/b", "a:b", "a b", "a\n"])("refuses the name %j", (name) => {
  expect(problems({ eth0: { name } })).toEqual(["net-device-target /linux/netDevices/eth0/name"]);
});

it.each(["a%", "%s", "%d%d", "%%d", "a%d%"])("refuses the template %j", (name) => {
  expect(problems({ eth0: { name } })).toEqual(["net-device-template /linux/netDevices/eth0/name"]);
});

it("refuses a name that is given twice, or is that of the loopback device", () => {
  expect(problems({ eth0: { name: "net0" }, eth1: { name: "net0" } })).toEqual(["net-device-duplicate /linux/netDevices/eth1/name"]);
  expect(problems({ eth0: { name: "eth1" }, eth1: {} })).toEqual(["net-device-duplicate /linux/netDevices/eth1"]);
  expect(problems({ eth0: { name: "lo" } })).toEqual(["net-device-duplicate /linux/netDevices/eth0/name"]);
  expect(problems({ lo: {} })).toEqual(["net-device-loopback /linux/netDevices/lo"]);
  expect(problems({ lo: { name: "eth0" } })).toEqual(["net-device-loopback /linux/netDevices/lo"]);
});

it("needs a network namespace and rights on the host", () => {
  expect(problems({ eth0: {} }, [])).toEqual(["net-devices-shared /linux/netDevices"]);
  expect(problems({ eth0: {} }, NETWORK, { rootless: true })).toEqual(["net-devices-rootless /linux/netDevices"]);
  expect(problems({}, [], { rootless: true })).toEqual([]);
});
