import { expect, test } from "vitest";
import { guardChain, guardRemoval } from "./iptables-guards.ts";

const SAVED = `*raw
:PREROUTING ACCEPT [0:0]
:RUNT-GUARD-rt-1 - [0:0]
:RUNT-GUARD-rt-2 - [0:0]
:RUNT-GUARD-rt-3 - [0:0]
-A PREROUTING -i rt-1 -m comment --comment "runt guard: runtd-a-default" -j RUNT-GUARD-rt-1
-A PREROUTING -i rt-2 -m comment --comment "runt guard: runtd-a-g.web" -j RUNT-GUARD-rt-2
-A PREROUTING -i rt-3 -m comment --comment "runt guard: runtd-b-default" -j RUNT-GUARD-rt-3
-A PREROUTING -i rt-1 -m comment --comment "somebody else" -j DROP
-A RUNT-GUARD-rt-1 -s 127.0.0.0/8 -m comment --comment "runt guard: runtd-a-default" -j DROP
-A RUNT-GUARD-rt-2 -s 127.0.0.0/8 -m comment --comment "runt guard: runtd-a-g.web" -j DROP
COMMIT
`;

test("other networks, loopback of the host and the metadata of its cloud are out of reach, but for tasks that may have the latter", () => {
  const lines = guardChain({
    bridge: "rt-0123456789",
    network: "runtd-a-default",
    subnet: "10.64.0.0/20",
    reaching: ["10.64.0.7"],
  });
  const comment = '-m comment --comment "runt guard: runtd-a-default"';
  expect(lines).toEqual([
    ":RUNT-GUARD-rt-0123456789 - [0:0]",
    `-A RUNT-GUARD-rt-0123456789 -i lo ${comment} -j RETURN`,
    `-A RUNT-GUARD-rt-0123456789 ! -i rt-0123456789 -m addrtype --dst-type LOCAL ${comment} -j RETURN`,
    `-A RUNT-GUARD-rt-0123456789 ! -i rt-0123456789 ${comment} -j DROP`,
    `-A RUNT-GUARD-rt-0123456789 -s 127.0.0.0/8 ${comment} -j DROP`,
    `-A RUNT-GUARD-rt-0123456789 -d 127.0.0.0/8 ${comment} -j DROP`,
    `-A RUNT-GUARD-rt-0123456789 -s 10.64.0.7 -d 169.254.169.254 ${comment} -j RETURN`,
    `-A RUNT-GUARD-rt-0123456789 -d 169.254.169.254 ${comment} -j DROP`,
  ]);
  // The longest name of a chain.
  expect("RUNT-GUARD-rt-0123456789".length).toBeLessThanOrEqual(28);
});

test("where the resolver of a network listens only its bridge and the host itself reach it", () => {
  const lines = guardChain({ bridge: "rt-1", network: "runtd-a-g.web", reaching: [], host: "10.64.0.1" });
  const comment = '-m comment --comment "runt guard: runtd-a-g.web"';
  expect(lines.slice(1, 5)).toEqual([
    `-A RUNT-GUARD-rt-1 -i lo ${comment} -j RETURN`,
    `-A RUNT-GUARD-rt-1 ! -i rt-1 -p udp --dport 5533 ${comment} -j DROP`,
    `-A RUNT-GUARD-rt-1 ! -i rt-1 -p tcp --dport 5533 ${comment} -j DROP`,
    `-A RUNT-GUARD-rt-1 ! -i rt-1 -m addrtype --dst-type LOCAL ${comment} -j RETURN`,
  ]);
});

test("chains of this engine whose bridges are gone are removed, and no rule of anybody else", () => {
  expect(guardRemoval(SAVED, "runtd-a-", (bridge) => bridge !== "rt-2")).toEqual([
    '-D PREROUTING -i rt-1 -m comment --comment "runt guard: runtd-a-default" -j RUNT-GUARD-rt-1',
    "-F RUNT-GUARD-rt-1",
    "-X RUNT-GUARD-rt-1",
  ]);
});
