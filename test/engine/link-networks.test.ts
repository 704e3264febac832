/** Networks of Compose on an interface of the host: macvlan and ipvlan, by the real plugins. The other end of the cable is a namespace of its own. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

/** Whether the kernel has interfaces of this type. */
function knows(type: string): boolean {
  try {
    execFileSync("unshare", ["--net", "sh", "-c", `ip link add p type veth peer name q && ip link add link p name x type ${type}`], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!isRoot || noNetworks !== undefined)("networks on interfaces of the host (need root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const cloud = join(scene.directory, "cloud");
  beforeEach(async () => {
    writeFileSync(cloud, "");
    execFileSync("unshare", [`--net=${cloud}`, "ip", "link", "set", "lo", "up"]);
    await host.on("ip", "link", "add", "up0", "type", "veth", "peer", "name", "far0");
    await host.on("ip", "link", "set", "far0", "netns", cloud);
    // The host is in the network of its interface, as it usually is.
    await host.on("ip", "addr", "add", "192.0.2.2/24", "dev", "up0");
    await host.on("ip", "link", "set", "up0", "up");
    await host.inside(cloud, "ip", "addr", "add", "192.0.2.1/24", "dev", "far0");
    await host.inside(cloud, "ip", "link", "set", "far0", "up");
  });
  afterEach(() => execFileSync("umount", ["--lazy", cloud]));

  const service = (fields: object) => ({
    ...{ "x-runt-rootfs": scene.rootfs(), command: ["sh", "-c", SLEEP.replaceAll("$", "$$$$")], stop_grace_period: "0s" },
    ...fields,
  });
  const apply = (services: object, networks: object) =>
    scene.ctl("apply", "-f", scene.file("compose.yaml", JSON.stringify({ name: "lan", services, networks })));
  const running = async (name: string) => {
    const one = async () => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}?group=lan`)).text);
    await until(async () => {
      expect((await one()).reason).toBe(null);
      return (await one()).known === "RUNNING";
    }, LONGEST_MS);
    const { id, addresses } = await one();
    return { addresses, inside: (...words: string[]) => host.inside(join(scene.directory, "run/networks", id), ...words) };
  };
  const pings = (one: { inside: (...words: string[]) => Promise<string> }, address: string) =>
    until(
      async () =>
        one
          .inside("busybox", "ping", "-c", "1", "-W", "1", address)
          .then(() => true)
          .catch(() => false),
      LONGEST_MS,
    );
  const lan = (driver: string, options: object = {}) => ({
    driver,
    driver_opts: { parent: "up0", ...options },
    ipam: {
      config: [{ subnet: "192.0.2.0/24", gateway: "192.0.2.1", ip_range: "192.0.2.128/25", aux_addresses: { printer: "192.0.2.128" } }],
    },
  });

  test(
    "macvlan: services are in the network of the parent with their addresses, MAC and route, find each other, and give everything back",
    async () => {
      await host.daemon();
      const mac = "02:42:c0:00:02:32";
      const services = {
        web: service({ networks: { lan: { ipv4_address: "192.0.2.50", mac_address: mac } } }),
        other: service({ networks: ["lan"] }),
      };
      expect(await apply(services, { lan: lan("macvlan", { "com.docker.network.driver.mtu": "1400" }) })).toMatchObject({
        status: 0,
        stderr: expect.stringContaining("no firewall rule of this host"),
      });
      const [web, other] = [await running("web"), await running("other")];
      expect([web.addresses, other.addresses]).toEqual([["192.0.2.50/24"], ["192.0.2.129/24"]]);
      const [link] = JSON.parse(await web.inside("ip", "-d", "-j", "link", "show", "eth0"));
      expect(link).toMatchObject({ mtu: 1400, address: mac, linkinfo: { info_kind: "macvlan", info_data: { mode: "bridge" } } });
      expect(await web.inside("ip", "-4", "route", "show", "default")).toMatch(/^default via 192\.0\.2\.1 dev eth0/);
      for (const address of ["192.0.2.50", "192.0.2.1"]) await pings(other, address);
      expect((await host.inside(cloud, "ip", "-o", "neigh")).split("\n")).toContainEqual(expect.stringMatching(/^192\.0\.2\.129 /));
      await until(async () => /192\.0\.2\.50\tweb/.test((await scene.ctl("-g", "lan", "exec", "other", "cat", "/etc/hosts")).stdout));
      expect((await scene.ctl("delete", "-p", "lan")).status).toBe(0);
      expect(await host.left()).toEqual(["up0"]);
    },
    LONGEST_MS,
  );

  test(
    "macvlan beside a bridge: ports of the host lead to the bridge, and a service that has none has no ports",
    async () => {
      await host.daemon();
      const services = {
        web: service({ networks: ["lan", "inner"], ports: ["18087:80"] }),
        alone: service({ networks: ["lan"], ports: ["18088:80"] }),
      };
      const told = await apply(services, { lan: lan("macvlan", { macvlan_mode: "vepa" }), inner: {} });
      expect(told.status).toBe(0);
      expect(told.stderr).toMatch(/ports: warning: has no effect, as with Docker: no port of the host leads to a network of macvlan/);
      const [web, alone] = [await running("web"), await running("alone")];
      expect(web.addresses).toEqual([expect.stringMatching(/^10\./), expect.stringMatching(/^192\.0\.2\.1(?:29|30)\/24$/)]);
      expect(alone.addresses).toHaveLength(1);
      expect(JSON.parse(await web.inside("ip", "-d", "-j", "link", "show", "eth1"))[0]).toMatchObject({
        linkinfo: { info_kind: "macvlan", info_data: { mode: "vepa" } },
      });
      const rules = await host.rules();
      expect([/\b18087\b/, /\b18088\b/].map((port) => rules.some((line) => port.test(line)))).toEqual([true, false]);
      expect((await scene.ctl("delete", "-p", "lan")).status).toBe(0);
      expect(await host.left()).toEqual(["up0"]);
    },
    LONGEST_MS,
  );

  test.skipIf(!knows("ipvlan"))(
    "ipvlan: services have the MAC of the parent",
    async () => {
      await host.daemon();
      expect(await apply({ web: service({ networks: ["lan"] }) }, { lan: lan("ipvlan", { ipvlan_mode: "l2" }) })).toMatchObject({
        status: 0,
        stderr: expect.stringContaining("no firewall rule of this host"),
      });
      const web = await running("web");
      expect(JSON.parse(await web.inside("ip", "-d", "-j", "link", "show", "eth0"))[0]).toMatchObject({
        address: JSON.parse(await host.on("ip", "-j", "link", "show", "up0"))[0].address,
        linkinfo: { info_kind: "ipvlan", info_data: { mode: "l2" } },
      });
      await pings(web, "192.0.2.1");
      expect((await scene.ctl("delete", "-p", "lan")).status).toBe(0);
      expect(await host.left()).toEqual(["up0"]);
    },
    LONGEST_MS,
  );

  test("a parent that is missing is named", async () => {
    await host.daemon();
    expect((await apply({ web: service({ networks: ["lan"] }) }, { lan: lan("macvlan", { parent: "up9.50" }) })).status).toBe(0);
    const one = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/web?group=lan")).text);
    await until(async () => (await one()).known === "STOPPED");
    expect((await one()).reason).toContain("the host has no interface up9.50");
  });
});
