import { expect, test } from "vitest";
import { incompleteChain, natRemoval, natRules } from "./nat.ts";

const RESULT = { cniVersion: "1.0.0", ips: [{ address: "10.64.0.2/20" }] };
const step = (nat: { host: number; container: number; address: string | undefined }[] | undefined) => ({
  ...{ name: "n", interface: "eth0", plugins: [{ type: "bridge" }], needsAddress: true },
  ...(nat === undefined ? {} : { nat }),
});
const OWN = String.raw`-m comment --comment "name: \"n\" id: \"a\""`;
const DNAT = String.raw`-m comment --comment "dnat name: \"n\" id: \"a\""`;
const [MASQ, DN] = ["CNI-3b564edb0c2e3b3d1e7a7c1e", "CNI-DN-3b564edb0c2e3b3d1e7a7"];

test("a task behind a bridge: its packets leave under an address of the host, but for those to its neighbours; E70: ports of the host lead to it, also from loopback", () => {
  const lines = natRules(
    step([
      { host: 8080, container: 80, address: undefined },
      { host: 443, container: 443, address: "192.0.2.1" },
    ]),
    RESULT,
    "a",
  ).map((line) => line.replaceAll(/CNI-(DN-)?[0-9a-f]{21,}/g, (_, dnat) => (dnat === undefined ? MASQ : DN)));
  expect(lines).toEqual([
    `:${MASQ} - [0:0]`,
    `-A ${MASQ} -d 10.64.0.2/20 ${OWN} -j ACCEPT`,
    `-A ${MASQ} ! -d 224.0.0.0/4 ${OWN} -j MASQUERADE`,
    `-A POSTROUTING -s 10.64.0.2 ${OWN} -j ${MASQ}`,
    `:${DN} - [0:0]`,
    `-A ${DN} -p tcp --dport 8080 ${DNAT} -j DNAT --to-destination 10.64.0.2:80`,
    `-A ${DN} -p tcp -d 192.0.2.1 --dport 443 ${DNAT} -j DNAT --to-destination 10.64.0.2:443`,
    `-A PREROUTING -p tcp -m addrtype --dst-type LOCAL -m multiport --dports 8080,443 ${DNAT} -j ${DN}`,
    `-A OUTPUT -p tcp -m addrtype --dst-type LOCAL -m multiport --dports 8080,443 ${DNAT} -j ${DN}`,
    `-I POSTROUTING -s 10.64.0.2/20 -d 10.64.0.2 -m conntrack --ctstate DNAT ${DNAT} -j MASQUERADE`,
    `-I POSTROUTING -s 127.0.0.0/8 -d 10.64.0.2 -m conntrack --ctstate DNAT ${DNAT} -j MASQUERADE`,
  ]);
  expect(natRemoval(lines)).toEqual([
    `-D POSTROUTING -s 10.64.0.2 ${OWN} -j ${MASQ}`,
    `-D PREROUTING -p tcp -m addrtype --dst-type LOCAL -m multiport --dports 8080,443 ${DNAT} -j ${DN}`,
    `-D OUTPUT -p tcp -m addrtype --dst-type LOCAL -m multiport --dports 8080,443 ${DNAT} -j ${DN}`,
    `-D POSTROUTING -s 10.64.0.2/20 -d 10.64.0.2 -m conntrack --ctstate DNAT ${DNAT} -j MASQUERADE`,
    `-D POSTROUTING -s 127.0.0.0/8 -d 10.64.0.2 -m conntrack --ctstate DNAT ${DNAT} -j MASQUERADE`,
    ...[`-F ${MASQ}`, `-F ${DN}`, `-X ${MASQ}`, `-X ${DN}`],
  ]);
});

test("a rule takes fifteen ports; what has no bridge has no rules, and what has no ports no way in", () => {
  const ports = Array.from({ length: 16 }, (_, at) => ({ host: 8000 + at, container: 80, address: undefined }));
  expect(natRules(step(ports), RESULT, "a").filter((line) => line.includes("-A PREROUTING"))).toHaveLength(2);
  const two = ["192.0.2.1", "192.0.2.2"].map((address) => ({ host: 80, container: 80, address }));
  expect(natRules(step(two), RESULT, "a").filter((line) => line.includes("--dports"))).toEqual([
    expect.stringContaining("--dports 80 "),
    expect.stringContaining("--dports 80 "),
  ]);
  expect(natRules(step(undefined), RESULT, "a")).toEqual([]);
  expect(natRules(step([]), RESULT, "a")).toHaveLength(4);
});

test("rules that somebody has taken away are missed, in whatever form iptables prints the others", () => {
  const lines = natRules(step([{ host: 8080, container: 80, address: undefined }]), RESULT, "a");
  const saved = lines
    .filter((line) => !line.startsWith(":"))
    .map((line) => line.replace(/^-I/, "-A").replace("10.64.0.2 ", "10.64.0.2/32 "));
  expect(incompleteChain(saved.join("\n"), lines)).toBeUndefined();
  expect(incompleteChain(saved.filter((line) => !line.includes("PREROUTING")).join("\n"), lines)).toBe("PREROUTING");
  // Those of another task do not count.
  expect(incompleteChain(saved.map((line) => line.replace(String.raw`id: \"a\"`, String.raw`id: \"b\"`)).join("\n"), lines)).toMatch(
    /^CNI-/,
  );
});
