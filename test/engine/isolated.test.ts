/** Networks of the mode isolated: interfaces on those of the host, by the real plugins. The other end of the cable is a namespace of its own. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { pluginsWith, taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks, TEST_PLUGINS } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

const MAC = "02:00:00:00:00:09";

describe.skipIf(!isRoot || noNetworks !== undefined)("interfaces of the host (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const cloud = join(scene.directory, "cloud");
  beforeEach(async () => {
    writeFileSync(cloud, "");
    execFileSync("unshare", [`--net=${cloud}`, "ip", "link", "set", "lo", "up"]);
    await host.on("ip", "link", "add", "up0", "type", "veth", "peer", "name", "far0");
    await host.on("ip", "link", "set", "far0", "netns", cloud);
    await host.on("ip", "link", "set", "up0", "up");
    for (const address of ["192.0.2.1/24", "fd00:5::1/64"]) await host.inside(cloud, "ip", "addr", "add", address, "dev", "far0");
    await host.inside(cloud, "ip", "link", "set", "far0", "up");
  });
  afterEach(() => execFileSync("umount", ["--lazy", cloud]));

  const apply = (name: string, network: object, script: string) =>
    http(scene.socket, "POST", "/v1/apply", {
      text: taskText(scene.rootfs(), name, [{ name: "main", script, fields: { capabilities: { add: ["CAP_NET_RAW"] } } }], { network }),
    });
  const printed = async (name: string): Promise<string> => allPrinted((await taskOf(scene, name)).containers[0].log);
  const remove = async (name: string) => {
    expect((await scene.ctl("delete", name)).status).toBe(0);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}`)).status === 404);
  };
  /** What the far end has seen of a neighbour: "ADDRESS MAC". */
  const neighbours = async () =>
    (await host.inside(cloud, "ip", "-o", "neigh")).split("\n").map((line) => line.replace(/^(\S+) .*lladdr (\S+) .*$/, "$1 $2"));

  test(
    "T16 T19 T24: an interface on a parent has its addresses, its MAC and its route; the bridge is behind it; both pass their check, and are removed with the task",
    async () => {
      await host.daemon({ args: ["--network-check", "200ms"] });
      const look = "until ping -c 1 -W 1 192.0.2.1 >/dev/null && ping -6 -c 1 -W 1 fd00:5::1 >/dev/null; do sleep 0.2; done";
      const blocked = "timeout 5 wget -q -O - http://169.254.169.254/ 2>&1";
      const interfaces = [{ parent: "up0", addresses: ["192.0.2.9/24", "fd00:5::9/64"], gateway: "192.0.2.1", mac: MAC }];
      await apply("t", { mode: "isolated", interfaces }, `${look}; ip -4 route; ip -o link; ${blocked}; echo end; ${SLEEP}`);
      await until(async () => {
        const { known, reason } = await taskOf(scene, "t");
        expect(reason).toBe(null);
        return known === "RUNNING" && /^end$/m.test(await printed("t"));
      }, LONGEST_MS);
      const said = await printed("t");
      expect(said).toMatch(/^default via 192\.0\.2\.1 dev eth0/m);
      expect(said).not.toMatch(/^default .*eth1/m);
      expect(said).toMatch(new RegExp(`eth0@.*${MAC}`));
      expect(said).toMatch(/eth1@/);
      expect(said).toMatch(/unreachable|Invalid argument/i);
      const { addresses } = await taskOf(scene, "t");
      expect(addresses).toEqual(["192.0.2.9/24", "fd00:5::9/64", expect.stringMatching(/^10\./)]);
      expect(await neighbours()).toContain(`192.0.2.9 ${MAC}`);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      expect(JSON.parse((await http(scene.socket, "GET", "/v1/node")).text).conditions).toEqual([]);
      await remove("t");
      expect(await host.left()).toEqual(["up0"]);
    },
    LONGEST_MS,
  );

  test("T24: if the parent interface is missing, the task names it, and the parts that were made before are removed", async () => {
    await host.daemon();
    const interfaces = [
      { parent: "up0", addresses: ["192.0.2.9/24"] },
      { parent: "up9", addresses: ["192.0.2.10/24"] },
    ];
    await apply("t", { mode: "isolated", interfaces }, SLEEP);
    await until(async () => (await taskOf(scene, "t")).known === "STOPPED");
    expect((await taskOf(scene, "t")).reason).toContain("the host has no interface up9");
    await remove("t");
    expect(await host.left()).toEqual(["up0"]);
  });

  test(
    "T24 E71: if the parent interface disappears while a task uses it, or while it is made, the network is still released",
    async () => {
      /** macvlan whose parent goes before it has begun. */
      const losing = (verb: string, parent: string) =>
        pluginsWith(scene, `plugins-${verb}`, {
          macvlan: `[ "$CNI_COMMAND" = ${verb} ] && ip link delete ${parent}; exec ${TEST_PLUGINS}/macvlan`,
        });
      const first = await host.daemon({ args: ["--cni-path", losing("ADD", "up1")] });
      await host.on("ip", "link", "add", "up1", "type", "veth", "peer", "name", "far1");
      await apply("lost", { mode: "isolated", interfaces: [{ parent: "up1", addresses: ["192.0.2.10/24"] }] }, SLEEP);
      await until(async () => (await taskOf(scene, "lost")).known === "STOPPED");
      expect((await taskOf(scene, "lost")).reason).toContain("macvlan has failed its ADD: Link not found");
      await remove("lost");
      await first.kill();
      await host.daemon({ args: ["--cni-path", losing("DEL", "up0")] });
      await apply("t", { mode: "isolated", interfaces: [{ parent: "up0", addresses: ["192.0.2.9/24"] }] }, SLEEP);
      await until(async () => (await taskOf(scene, "t")).known === "RUNNING", LONGEST_MS);
      await remove("t");
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );
});
