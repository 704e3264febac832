/** What a Compose file says of its networks, by what the kernel has of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

describe.skipIf(!isRoot || noNetworks !== undefined)("networks of Compose files (need root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const service = (fields: object) => ({
    ...{ "x-runt-rootfs": scene.rootfs(), command: ["sh", "-c", SLEEP.replaceAll("$", "$$$$")], stop_grace_period: "5s" },
    ...fields,
  });
  const running = async (name: string, group: string) => {
    const one = async () => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}?group=${group}`)).text);
    await until(async () => (await one()).known === "RUNNING");
    return one();
  };

  test(
    "options of a bridge: interfaces have the largest packet that is said, and ports are at one address of the host, or at two",
    async () => {
      await host.daemon();
      const small = {
        driver_opts: { "com.docker.network.driver.mtu": "1400", "com.docker.network.bridge.host_binding_ipv4": "127.0.0.2" },
      };
      const services = { web: service({ networks: ["small", "large"], ports: ["18085:80", "127.0.0.3:18085:80"] }) };
      const file = scene.file("compose.yaml", JSON.stringify({ name: "shop", services, networks: { small, large: {} } }));
      expect(await scene.ctl("apply", "-f", file)).toMatchObject({ status: 0, stderr: "" });
      const { id } = await running("web", "shop");
      const namespace = join(scene.directory, "run/networks", id);
      const sizeOf = async (name: string) => JSON.parse(await host.inside(namespace, "ip", "-j", "link", "show", name))[0].mtu;
      expect([await sizeOf("eth0"), await sizeOf("eth1")]).toEqual([1400, 1500]);
      const bridges = JSON.parse(await host.on("ip", "-j", "link", "show", "type", "bridge")) as { mtu: number }[];
      expect(bridges.map(({ mtu }) => mtu).sort()).toEqual([1400, 1500]);
      const published = (await host.rules())
        .join("\n")
        .match(/\S+ \. tcp \. \d+/g)
        ?.sort();
      expect(published).toEqual(["127.0.0.2 . tcp . 18085", "127.0.0.3 . tcp . 18085"]);
      expect((await scene.ctl("delete", "-f", file)).status).toBe(0);
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "a network of another project has to be there, unless it is asked for; then services of both find each other, also by external_links",
    async () => {
      await host.daemon();
      const file = (name: string, network: object) =>
        scene.file(
          `${name}.yaml`,
          JSON.stringify({
            name,
            services: { [name]: service({ networks: ["proxy"], external_links: ["owner-owner-1:store"] }) },
            networks: { proxy: network },
          }),
        );
      const [owner, guest] = [file("owner", { name: "proxy" }), file("guest", { external: true })];
      expect(await scene.ctl("validate", "-f", guest)).toMatchObject({ status: 0, stderr: "" });
      for (const verb of ["plan", "apply"]) {
        const refused = await scene.ctl(verb, "-f", guest);
        expect([refused.status, refused.stdout]).toEqual([1, ""]);
        expect(refused.stderr).toMatch(/there is no network proxy on this host: .*--make-networks/);
      }
      // Of the project alone, although it has the name.
      const own = scene.file(
        "own.yaml",
        JSON.stringify({ name: "own", services: { own: service({ networks: ["proxy"] }) }, networks: { proxy: {} } }),
      );
      expect((await scene.ctl("apply", "-f", own)).status).toBe(0);
      expect((await scene.ctl("apply", "-f", guest)).status).toBe(1);
      expect(await scene.ctl("apply", "-f", owner)).toMatchObject({ status: 0, stderr: "" });
      expect(await scene.ctl("apply", "-f", guest)).toMatchObject({ status: 0, stderr: "" });
      await running("owner", "owner");
      const { id } = await running("guest", "guest");
      const hosts = join(scene.stateDir, "network/files", id, "hosts");
      // It is called as Docker Compose calls its container, too.
      await until(() => /\towner store$/m.test(readFileSync(hosts, "utf8")));
      expect(readFileSync(hosts, "utf8")).not.toMatch(/\town$/m);
      // Its own task is in it, and so it is there; when nobody is in it, it can be asked for.
      expect((await scene.ctl("delete", "-f", owner)).status).toBe(0);
      expect((await scene.ctl("apply", "-f", guest)).stdout).toBe("task guest unchanged\n");
      expect((await scene.ctl("delete", "-f", guest)).status).toBe(0);
      expect((await scene.ctl("apply", "-f", guest)).status).toBe(1);
      expect(await scene.ctl("apply", "-f", guest, "--make-networks")).toMatchObject({ status: 0, stdout: "task guest created\n" });
      for (const one of [guest, own]) expect((await scene.ctl("delete", "-f", one)).status).toBe(0);
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "interfaces have the names that a file gives them, the others the free ones; an address is that of a network that others have made, and of one service",
    async () => {
      await host.daemon();
      const network = { name: "lan", ipam: { config: [{ subnet: "172.27.9.0/24" }] } };
      const networks = { lan: { interface_name: "eth1", gw_priority: 1 }, own: {}, named: { interface_name: "lan0" } };
      const owner = scene.file(
        "owner.yaml",
        JSON.stringify({ name: "owner", services: { web: service({ networks }) }, networks: { lan: network, own: {}, named: {} } }),
      );
      expect(await scene.ctl("apply", "-f", owner)).toMatchObject({ status: 0, stderr: "" });
      const { id } = await running("web", "owner");
      const links = JSON.parse(await host.inside(join(scene.directory, "run/networks", id), "ip", "-j", "-4", "address", "show"));
      const addresses = new Map(
        links.map((one: { ifname: string; addr_info: { local: string }[] }) => [one.ifname, one.addr_info[0]!.local]),
      );
      expect([...addresses.keys()].sort()).toEqual(["eth0", "eth1", "lan0", "lo"]);
      expect(addresses.get("eth1")).toMatch(/^172\.27\.9\./);
      expect(await host.inside(join(scene.directory, "run/networks", id), "ip", "route", "show", "default")).toMatch(/ dev eth1/);
      const guest = (name: string, address: string) =>
        scene.file(
          `${name}.yaml`,
          JSON.stringify({
            name,
            services: { [name]: service({ networks: { lan: { ipv4_address: address } } }) },
            networks: { lan: { external: true } },
          }),
        );
      const [first, second, outside] = [guest("first", "172.27.9.77"), guest("second", "172.27.9.77"), guest("outside", "172.27.10.1")];
      expect(await scene.ctl("apply", "-f", first)).toMatchObject({ status: 0, stderr: "" });
      const inFirst = join(scene.directory, "run/networks", (await running("first", "first")).id);
      expect(await host.inside(inFirst, "ip", "-4", "address", "show", "eth0")).toContain("172.27.9.77/24");
      for (const [name, file, reason] of [
        ["second", second, /172\.27\.9\.77/],
        ["outside", outside, /the network \.lan has 172\.27\.9\.0\/24, in which 172\.27\.10\.1 is no address of a task/],
      ] as const) {
        await scene.ctl("apply", "-f", file);
        const one = async () => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}?group=${name}`)).text);
        await until(async () => (await one()).known === "STOPPED");
        expect((await one()).reason).toMatch(reason);
      }
      expect(await host.inside(inFirst, "ip", "-4", "address", "show", "eth0")).toContain("172.27.9.77/24");
      for (const file of [first, second, outside, owner]) expect((await scene.ctl("delete", "-f", file)).status).toBe(0);
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );
});
