import { expect, it } from "vitest";
import { deriveNetDevices } from "./net-devices.ts";

it("keeps the order, and the host's name where no other one is asked for", () => {
  expect(deriveNetDevices({ "eth1/x": { name: "net%d" }, eth0: {}, eth2: { name: "" }, eth3: { name: null } })).toEqual([
    { from: "/linux/netDevices/eth1~1x", device: "eth1/x", name: "net%d" },
    { from: "/linux/netDevices/eth0", device: "eth0", name: "eth0" },
    { from: "/linux/netDevices/eth2", device: "eth2", name: "eth2" },
    { from: "/linux/netDevices/eth3", device: "eth3", name: "eth3" },
  ]);
});

it("is empty without devices", () => {
  for (const devices of [undefined, null, {}]) expect(deriveNetDevices(devices)).toEqual([]);
});
