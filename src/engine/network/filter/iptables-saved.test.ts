import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { removalOf, savedRules } from "./iptables-saved.ts";

const SAVED = `*nat
:PREROUTING ACCEPT [0:0]
:CNI-DN-f718424578760758b4744 - [0:0]
:CNI-f718424578760758b47443b3 - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A POSTROUTING -s 10.64.0.2/32 -m comment --comment "name: \\"n\\" id: \\"a\\"" -j CNI-f718424578760758b47443b3
-A POSTROUTING -s 10.64.0.3/32 -m comment --comment "name: \\"n\\" id: \\"b\\"" -j CNI-0718424578760758b47443b3
-A CNI-DN-f718424578760758b4744 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.64.0.2:80
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"n\\" id: \\"a\\"" -m multiport --dports 8080 -j CNI-DN-f718424578760758b4744
-A CNI-f718424578760758b47443b3 -d 10.64.0.0/20 -m comment --comment "name: \\"n\\" id: \\"a\\"" -j ACCEPT
COMMIT
`;

test("rules of one task go with the chains that they lead to; those of others, and what all share, stay", () => {
  expect(removalOf(SAVED, ({ network, id }) => network === "n" && id === "a")).toEqual([
    '-D POSTROUTING -s 10.64.0.2/32 -m comment --comment "name: \\"n\\" id: \\"a\\"" -j CNI-f718424578760758b47443b3',
    '-D CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"n\\" id: \\"a\\"" -m multiport --dports 8080 -j CNI-DN-f718424578760758b4744',
    "-F CNI-f718424578760758b47443b3",
    "-F CNI-DN-f718424578760758b4744",
    "-X CNI-f718424578760758b47443b3",
    "-X CNI-DN-f718424578760758b4744",
  ]);
  expect(removalOf(SAVED, () => false)).toEqual([]);
});

test("rules of which others keep 10 MB do not hide those of this engine, and are not kept", async () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-iptables-"));
  const own = [
    ":RUNT-PORTS-0123abcd - [0:0]",
    '-A PREROUTING -m addrtype --dst-type LOCAL -m comment --comment "runt: service ports of 0123abcd" -j RUNT-PORTS-0123abcd',
    '-A PREROUTING -i rt-1 -m comment --comment "runt guard: runtd-a-default" -j RUNT-GUARD-rt-1',
    ...SAVED.split("\n").filter((line) => /CNI-|name: /.test(line)),
  ];
  const other =
    '-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "default/runt:https cluster IP" -j KUBE-SVC-NPX46M4PTMTKRN6Y\n';
  const text = `*nat\n:KUBE-SERVICES - [0:0]\n${other.repeat(40_000)}${own.join("\n")}\n${other.repeat(40_000)}COMMIT\n`;
  try {
    writeFileSync(join(directory, "saved"), text);
    writeFileSync(join(directory, "iptables-save"), `#!/bin/sh\nexec cat ${directory}/saved\n`);
    chmodSync(join(directory, "iptables-save"), 0o755);
    vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
    expect(await savedRules(60_000)).toBe(["*nat", ...own, "COMMIT", ""].join("\n"));
  } finally {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  }
});
