import { expect, test } from "vitest";
import { chainFor, chainsIn, frameRules } from "./ebtables.ts";

const MAC = "02:00:00:00:00:01";

test("a task sends IPv4 and ARP in its own name, IPv6, and nothing else; a transparent proxy also sends IPv4 for others", () => {
  expect(frameRules({ mac: MAC, addresses: ["10.64.0.2"], isRelay: false })).toEqual([
    `-s ! ${MAC} -j DROP`,
    "-p IPv4 --ip-src 10.64.0.2 -j RETURN",
    `-p ARP --arp-htype 1 --arp-ptype 0x800 --arp-mac-src ${MAC} --arp-ip-src 10.64.0.2 -j RETURN`,
    "-p IPv6 -j RETURN",
    "-j DROP",
  ]);
  expect(frameRules({ mac: MAC, addresses: [], isRelay: true })).toContain("-p IPv4 -j RETURN");
});

test("only chains of this engine are read, and their names fit", () => {
  const text = `Bridge table: nat

Bridge chain: PREROUTING, entries: 3, policy: ACCEPT
-i veth00000001 -j RUNT-01234567-veth00000001
-i veth00000002 -j RUNT-89abcdef-veth00000002
-i veth00000003 -j DROP

Bridge chain: RUNT-01234567-veth00000001, entries: 5, policy: RETURN
-j DROP

Bridge chain: RUNT-89abcdef-veth00000002, entries: 4, policy: RETURN
`;
  expect(chainsIn(text, "01234567")).toEqual({
    counts: new Map([["RUNT-01234567-veth00000001", 5]]),
    led: new Set(["veth00000001"]),
  });
  expect(chainFor("01234567", "veth01234567").length).toBeLessThanOrEqual(31);
});
