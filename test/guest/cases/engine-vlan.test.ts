/** Interfaces with the tag of a vlan (T17), which hosts of `make test` do not have. The far end of the trunk, and what the kernel says of the interface, are the witnesses. */
import { describe, expect, test } from "vitest";
import { taskOf, useNetworkHost } from "../../engine/network-host.ts";
import { http, until } from "../../engine/requests.ts";
import { LONGEST_MS, useEngine } from "../../engine/support.ts";
import { SLEEP, taskText } from "../../engine/tasks.ts";
import { allPrinted } from "../../support/log-file.ts";
import { systemdRuns } from "../../support/systemd.ts";

const MAC = "02:00:00:00:00:09";

describe.skipIf(!systemdRuns)("interfaces with the tag of a vlan (needs the guest)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);

  test(
    "T17: what a task sends bears the tag on the trunk, so that only its vlan is reached; the interface goes with the task",
    async () => {
      await host.daemon();
      await host.on("ip", "link", "add", "trunk", "type", "veth", "peer", "name", "far");
      await host.on("ip", "link", "set", "trunk", "up");
      // The far end is another host, which has the vlans 7 and 8, and a network without a tag.
      await host.on("ip", "netns", "add", "far");
      try {
        const far = (...command: string[]) => host.on("ip", "netns", "exec", "far", ...command);
        await host.on("ip", "link", "set", "far", "netns", "far");
        for (const tag of [7, 8]) await far("ip", "link", "add", "link", "far", "name", `far.${tag}`, "type", "vlan", "id", String(tag));
        // Linux would answer for the addresses of its other interfaces, too.
        await far("sh", "-c", "echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore");
        // Answers go by the vlan 7 alone: with three routes to the same network they would go by the first.
        const addresses = { "far.7": "192.0.2.1/24", "far.8": "192.0.2.2/32", far: "192.0.2.3/32" };
        for (const [name, address] of Object.entries(addresses)) await far("ip", "addr", "add", address, "dev", name);
        for (const name of ["lo", "far", "far.7", "far.8"]) await far("ip", "link", "set", name, "up");
        const look = "until ping -c 1 -W 1 192.0.2.1 >/dev/null; do sleep 0.2; done; echo own";
        const others = "for a in 2 3; do ping -c 1 -W 1 192.0.2.$a >/dev/null && echo other; done; echo end";
        const main = { name: "main", script: `${look}; ${others}; ${SLEEP}`, fields: { capabilities: { add: ["CAP_NET_RAW"] } } };
        const interfaces = [{ association: "vlan", parent: "trunk", vlan: 7, addresses: ["192.0.2.9/24"], mac: MAC }];
        await http(scene.socket, "POST", "/v1/apply", {
          text: taskText(scene.rootfs(), "t", [main], { network: { mode: "isolated", interfaces } }),
        });
        const printed = async () => allPrinted((await taskOf(scene, "t")).containers[0].log);
        await until(async () => (await taskOf(scene, "t")).known === "RUNNING" && /end/.test(await printed()), LONGEST_MS);
        expect(await printed()).toBe("own\nend\n");
        const { pid } = scene.list()[0]!;
        const shown = await host.inside(`/proc/${pid}/ns/net`, "ip", "-d", "-o", "link", "show", "eth0");
        expect(shown).toContain(`link/ether ${MAC}`);
        expect(shown).toContain("vlan protocol 802.1Q id 7");
        expect((await http(scene.socket, "DELETE", "/v1/tasks/t")).status).toBe(202);
        await until(async () => (await http(scene.socket, "GET", "/v1/tasks/t")).status === 404);
        expect(await host.left()).toEqual(["trunk"]);
      } finally {
        await host.on("ip", "netns", "delete", "far");
      }
    },
    LONGEST_MS,
  );
});
