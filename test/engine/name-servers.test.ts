/** Name servers of pods: what /etc/resolv.conf says in the network of the host, behind a bridge, and where the host can make none. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { isRoot, until, useEngine } from "./support.ts";

const dnsConfig = { nameservers: ["192.0.2.53"], searches: ["shop.example"], options: [{ name: "ndots", value: "3" }] };
const serversOf = (text: string) => [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, server]) => server!);
const ofHost = () => serversOf(readFileSync("/etc/resolv.conf", "utf8"));

describe.skipIf(!isRoot)("name servers of pods (need root)", () => {
  const scene = useEngine();
  const printedBy = async (name: string, spec: object) => {
    const metadata = { name, annotations: { "runt.dev/rootfs.a": scene.rootfs() } };
    const containers = [{ name: "a", command: ["/bin/cat", "/etc/resolv.conf"] }];
    const text = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata, spec: { restartPolicy: "Never", ...spec, containers } });
    expect(await scene.ctl("apply", "-f", scene.file("pod.yaml", text))).toMatchObject({ status: 0 });
    await until(async () => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout).status.phase === "Succeeded");
    return (await scene.ctl("logs", name)).stdout;
  };

  test("P4 in the network of the host a pod has the name servers of the host, and then its own; with None it has only its own", async () => {
    await scene.daemon();
    expect(serversOf(await printedBy("default", { hostNetwork: true, dnsPolicy: "Default" }))).toEqual(ofHost());
    const both = await printedBy("both", { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet", dnsConfig });
    expect(serversOf(both)).toEqual([...ofHost(), "192.0.2.53"]);
    expect(both).toMatch(/^search .*\bshop\.example$/m);
    expect(both).toMatch(/^options .*\bndots:3\b/m);
    const own = "nameserver 192.0.2.53\nsearch shop.example\noptions ndots:3\n";
    expect(await printedBy("none", { dnsPolicy: "None", dnsConfig })).toBe(own);
    expect(await printedBy("none-of-host", { hostNetwork: true, dnsPolicy: "None", dnsConfig })).toBe(own);
  });

  describe.skipIf(noNetworks !== undefined)("behind a bridge (needs CNI plugins)", () => {
    const host = useNetworkHost(scene);

    test("P4 behind a bridge a pod has the name servers of the host that are not on its loopback, and then its own", async () => {
      await host.daemon();
      const away = ofHost().filter((server) => !server.startsWith("127."));
      expect(serversOf(await printedBy("web", { dnsConfig }))).toEqual([...away, "192.0.2.53"]);
      expect((await scene.ctl("delete", "web")).status).toBe(0);
      expect(serversOf(await printedBy("alone", { dnsPolicy: "None", dnsConfig }))).toEqual(["192.0.2.53"]);
      expect((await scene.ctl("delete", "alone")).status).toBe(0);
    });
  });
});
