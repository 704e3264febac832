/** Rules in the namespaces of tasks: another program takes them over while tasks run, and a host without iptables needs none. */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { program } from "../support/programs.ts";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { type Daemon, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

const ADDRESS = "10.96.7.7";
/** Asks all the time, each time by a new connection of TCP, and by one socket of UDP. Prints the failures, and who has answered the socket, when its standard input ends. */
const STEADY = [
  process.execPath,
  "-e",
  `const http = require('http'), failures = [], names = []; let open = 0, count = 0; console.log('up');
   const s = require('dgram').createSocket('udp4'); s.on('message', (m) => { if (names.at(-1) !== String(m)) names.push(String(m)); }).on('error', () => {});
   s.bind(0, () => setInterval(() => s.send('x', 80, '${ADDRESS}', () => {}), 20));
   const timer = setInterval(() => { if (open > 5) return; open++; const end = (why) => { open--; count++; if (why) failures.push(why); };
     http.get('http://${ADDRESS}/', { agent: false, timeout: 20000 }, (r) => { r.resume(); r.on('end', () => end()); })
       .on('timeout', function () { this.destroy(new Error('silence')); }).on('error', (e) => end(e.message)); }, 10);
   process.stdin.resume().on('end', () => { clearInterval(timer);
     setInterval(() => { if (open === 0) { console.log(JSON.stringify({ count, failures, names })); process.exit(); } }, 10); });`,
];
const ASK = (url: string) => [
  process.execPath,
  "-e",
  `require('http').get('http://${url}/', { agent: false, timeout: 2000 }, (r) => r.pipe(process.stdout))
     .on('timeout', function () { this.destroy(new Error('silence')); }).on('error', (e) => console.log(e.code ?? e.message));`,
];
/** As iptables-legacy of an earlier version of the host has made it. Nobody answers there. */
const LEGACY = `iptables-legacy -t nat -N RUNT-SERVICES && iptables-legacy -t nat -A OUTPUT -j RUNT-SERVICES &&
  iptables-legacy -t nat -A RUNT-SERVICES -d ${ADDRESS} -p udp --dport 80 -j DNAT --to-destination 192.0.2.1:9`;

describe.skipIf(!isRoot || noNetworks !== undefined)("rules in the namespaces of tasks (needs root, CNI plugins, nft and iptables)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const text = (name: string, network: object) => {
    cpSync(program("server"), join(scene.rootfs(), "server"));
    return taskText(scene.rootfs(), name, [{ name: "main", script: `exec /server ${name} 80`, fields: { stopSignal: "SIGKILL" } }], {
      network: { name: "back", ...network },
    });
  };
  const ports = ["tcp", "udp"].map((protocol) => ({ port: 80, to: 80, protocol }));
  const part = (name: string, fields: object = {}) => text(name, { services: [{ names: ["api"], address: ADDRESS, ports }], ...fields });
  const apply = async (...texts: readonly string[]) => {
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: texts.join("\n---\n") });
    expect(answer.status, answer.text).toBe(200);
  };
  const running = (name: string) => until(async () => (await taskOf(scene, name)).known === "RUNNING", LONGEST_MS);
  const remove = async (name: string) => {
    await http(scene.socket, "DELETE", `/v1/tasks/${name}`);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}`)).status === 404, LONGEST_MS);
  };
  const namespaceOf = async (name: string) => join(scene.directory, "run/networks", (await taskOf(scene, name)).id);

  test(
    "P3 rules for services are taken over from iptables while tasks run, and back; no connection fails or goes past a proxy, and a flow of UDP goes on until its task is gone",
    async () => {
      const first = await host.daemon({ args: ["--packet-filter", "iptables"] });
      await apply(part("web"), text("client", {}), text("mesh", { proxy: { user: 1337, egress: { port: 80 } } }));
      for (const name of ["web", "client", "mesh"]) await running(name);
      const [inside, mesh] = [await namespaceOf("client"), await namespaceOf("mesh")];
      await until(async () => (await host.inside(inside, ...ASK(ADDRESS))).trim() === "web");
      const client = host.client("nsenter", `--net=${inside}`, ...STEADY);
      const hasIn = async (namespace: string, ...command: string[]) =>
        (await host.inside(namespace, ...command)).split(/[\s:]/).some((word) => /^(RUNT-SERVICES|runt-services)$/.test(word));
      const has = (...command: string[]) => hasIn(inside, ...command);
      let daemon: Daemon = first;
      for (const filter of ["nft", "iptables", "nft"]) {
        await daemon.kill();
        daemon = await host.daemon({ args: ["--packet-filter", filter] });
        await until(
          async () =>
            String([await has("iptables-save"), await has("nft", "list", "tables")]) === String([filter === "iptables", filter === "nft"]),
        );
        const hasServices = filter === "nft" ? ["nft", "list", "tables"] : ["iptables-save"];
        await until(() => hasIn(mesh, ...hasServices));
        // What the task sends as another user than the proxy comes to the proxy, which is the task's own server.
        expect((await host.inside(mesh, ...ASK(ADDRESS))).trim()).toBe("mesh");
      }
      await daemon.kill();
      const hasLegacy = await host.inside(inside, "sh", "-c", LEGACY).then(
        () => true,
        () => false,
      );
      daemon = await host.daemon({ args: ["--packet-filter", "nft"] });
      if (hasLegacy) await until(async () => !(await has("iptables-legacy-save")));
      await apply(part("second"));
      await running("second");
      await remove("web");
      await until(async () => (await host.inside(inside, ...ASK(ADDRESS))).trim() === "second");
      await new Promise((resolve) => setTimeout(resolve, 500));
      const { count, failures, names } = JSON.parse(await client.end());
      expect([count > 10, failures, names]).toEqual([true, [], ["web", "second"]]);
      for (const name of ["second", "client", "mesh"]) await remove(name);
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "P3 on a host without iptables services, redirected ports and proxies work",
    async () => {
      const real = join(scene.directory, "sbin-of-host");
      const without = join(scene.directory, "sbin-without-iptables");
      const before = `mkdir -p ${real} ${without} && mount --bind /usr/sbin ${real} && ln -sf ${real}/* ${without}/ &&
        rm -f ${without}/*tables-* ${without}/iptables* ${without}/ip6tables* && mount --bind ${without} /usr/sbin`;
      const daemon = await host.daemon({ before });
      const seen = (path: string) => `/proc/${daemon.pid}/root${path}`;
      expect([existsSync(seen("/usr/sbin/iptables-restore")), existsSync(seen(`${without}/iptables`))]).toEqual([false, false]);
      const proxy = { user: 1337, egress: { port: 80, addresses: ["192.0.2.0/24"] }, ingress: { port: 80, ports: [82] } };
      await apply(part("web", { redirects: [{ port: 81, to: 80 }] }), text("client", { proxy }));
      for (const name of ["web", "client"]) await running(name);
      const address = async (name: string) => (await taskOf(scene, name)).addresses[0].split("/")[0];
      const inside = async (name: string, url: string) => (await host.inside(seen(await namespaceOf(name)), ...ASK(url))).trim();
      await until(async () => (await inside("client", ADDRESS)) === "web");
      expect(await inside("client", `${ADDRESS}:81`)).toBe("ECONNREFUSED");
      expect(await inside("client", `${await address("web")}:81`)).toBe("web");
      expect(await inside("client", "192.0.2.7")).toBe("client");
      expect(await inside("web", `${await address("client")}:82`)).toBe("client");
      for (const name of ["web", "client"]) await remove(name);
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );
});
