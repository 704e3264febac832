import { expect, test } from "vitest";
import type { ServicePort } from "./filter.ts";
import { isWhole, sectionsOf, tasksIn, written } from "./iptables-service-rules.ts";

const KEY = "0123abcd";
const OWN = `RUNT-PORTS-${KEY}`;
const BACK = `RUNT-PORTS-BACK-${KEY}`;
const backend = (index: number) => ({ task: `g.web-${index}.1`, address: `10.64.0.${index}/20`, port: 80 });
const port = (some: Partial<ServicePort> = {}): ServicePort => ({
  ...{ host: 8080, protocol: "tcp", address: undefined, sticky: false, to: [backend(2), backend(3), backend(4)] },
  ...some,
});
const natOf = (some?: Partial<ServicePort>) => sectionsOf(KEY, [port(some)])[1];

test("each task that serves has the same share of new connections; what comes back passes the host", () => {
  expect(natOf().rules).toEqual([
    `-A ${OWN} -p tcp -m tcp --dport 8080 -m statistic --mode random --probability 0.3333333333 -m comment --comment "runt: g.web-2.1" -j DNAT --to-destination 10.64.0.2:80`,
    `-A ${OWN} -p tcp -m tcp --dport 8080 -m statistic --mode random --probability 0.5000000000 -m comment --comment "runt: g.web-3.1" -j DNAT --to-destination 10.64.0.3:80`,
    `-A ${OWN} -p tcp -m tcp --dport 8080 -m comment --comment "runt: g.web-4.1" -j DNAT --to-destination 10.64.0.4:80`,
    ...[2, 3, 4].flatMap((index) =>
      [`10.64.0.${index}/20`, "127.0.0.0/8"].map(
        (source) => `-A ${BACK} -s ${source} -d 10.64.0.${index}/32 -m comment --comment "runt: g.web-${index}.1" -j MASQUERADE`,
      ),
    ),
  ]);
});

test("without a task that serves, connections are refused by rules of their own, so that no other rule of the host lets them wait", () => {
  const [filter, nat] = sectionsOf(KEY, [port({ to: [] }), port({ host: 53, protocol: "udp", address: "127.0.0.2", to: [] })]);
  expect(filter.rules).toEqual([
    `-A ${OWN} -p tcp -m tcp --dport 8080 -m conntrack --ctstate NEW -j REJECT --reject-with tcp-reset`,
    `-A ${OWN} -d 127.0.0.2/32 -p udp -m udp --dport 53 -m conntrack --ctstate NEW -j REJECT --reject-with icmp-port-unreachable`,
  ]);
  expect(nat.rules).toEqual([]);
});

test("a sticky service: each part of the clients keeps its task when another one goes", () => {
  const of = (to: ServicePort["to"]) =>
    natOf({ sticky: true, to })
      .rules.filter((rule) => rule.includes("DNAT"))
      .map((rule) => rule.split(" ").at(-1)!);
  const all = [2, 3, 4].map(backend);
  const before = of(all);
  expect([before.length, new Set(before).size]).toEqual([32, 3]);
  const after = of(all.slice(0, 2));
  for (const [part, to] of before.entries()) if (to !== "10.64.0.4:80") expect(after[part]).toBe(to);
  expect(of([backend(2)])).toEqual(["10.64.0.2:80"]);
});

/** As iptables-save(8) prints it. */
const saved = (jumps: readonly string[], rules: readonly string[], chains: readonly string[] = [OWN, BACK]) =>
  [
    "*filter",
    "COMMIT",
    "*nat",
    ":PREROUTING ACCEPT [0:0]",
    ...chains.map((one) => `:${one} - [0:0]`),
    ...jumps,
    ...rules,
    "COMMIT",
    "",
  ].join("\n");

test("what is written takes the place of what is there, whatever somebody has left of it", () => {
  const section = natOf();
  const jumps = section.jumps.map((jump) => `-A ${jump}`);
  const flushing = ["*nat", `:${OWN} - [0:0]`, `:${BACK} - [0:0]`, ...section.rules];
  expect(written(section, undefined)).toEqual([...flushing, "COMMIT"]);
  expect(written(section, "")).toEqual([...flushing, ...section.jumps.map((jump) => `-I ${jump}`), "COMMIT"]);
  expect(written(section, saved([...jumps, jumps[0]!], []))).toEqual([...flushing, `-D ${section.jumps[0]}`, "COMMIT"]);
  const whole = saved(jumps, section.rules);
  expect(isWhole(section, whole)).toBe(true);
  for (const damaged of [
    "",
    saved(jumps.slice(1), section.rules),
    saved(jumps, section.rules.slice(1)),
    saved([...jumps, jumps[0]!], section.rules),
  ])
    expect(isWhole(section, damaged)).toBe(false);
});

test("the last port takes chains and jumps away; of other engines nothing is touched", () => {
  const section = natOf();
  const jumps = section.jumps.map((jump) => `-A ${jump}`);
  const [, none] = sectionsOf(KEY, []);
  const other = sectionsOf("ffffffff", [port()])[1];
  const both = saved(
    [...jumps, ...other.jumps.map((jump) => `-A ${jump}`)],
    [...section.rules, ...other.rules],
    [...section.chains, ...other.chains],
  );
  expect(written(none, both)).toEqual([
    "*nat",
    ...section.jumps.map((jump) => `-D ${jump}`),
    ...[`-F ${OWN}`, `-F ${BACK}`, `-X ${OWN}`, `-X ${BACK}`],
    "COMMIT",
  ]);
  expect(written(none, saved([], [], []))).toEqual([]);
  expect([...new Set(tasksIn(both, KEY))]).toEqual(["g.web-2.1", "g.web-3.1", "g.web-4.1"]);
  expect(tasksIn(both, "00000000")).toEqual([]);
});
