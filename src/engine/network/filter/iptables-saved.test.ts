import { expect, test } from "vitest";
import { removalOf } from "./iptables-saved.ts";

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
