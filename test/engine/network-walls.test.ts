/** Which tasks reach each other: over random networks, every pair is tried and compared with a model. RUNT_ENGINE_WALLS=20 for more of them, RUNT_ENGINE_SEED=7 for others. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { random } from "../support/random.ts";
import { FILTERS, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const ROUNDS = Number(process.env["RUNT_ENGINE_WALLS"] ?? 1);
const SEED = Number(process.env["RUNT_ENGINE_SEED"] ?? 1);
const TASKS = 5;
const NETWORKS = ["red", "green", "blue"];
const PORT = 7000;
/** Of the host, and of the first task. */
const PUBLISHED = 18_090;
/** For what does not answer. */
const SILENCE_MS = 700;

const SERVE = (name: string) => [
  process.execPath,
  "-e",
  `require('net').createServer((s) => { s.on('error', () => {}); s.end('${name}'); }).listen(${PORT}, () => console.log('up'))`,
];
/** Prints a JSON object: what each address has answered, "" for silence and refusals. */
const ASK = (addresses: readonly string[]) => [
  process.execPath,
  "-e",
  `const all = process.argv.slice(1), found = {}; let left = all.length; if (left === 0) console.log('{}');
   for (const one of all) { const [host, port] = one.split(':'); const s = require('net').connect(port, host); found[one] = '';
     s.setTimeout(${SILENCE_MS}, () => s.destroy()); s.on('data', (d) => { found[one] += d; }); s.on('error', () => {});
     s.on('close', () => { if (--left === 0) console.log(JSON.stringify(found)); }); }`,
  ...addresses,
];
interface Member {
  readonly name: string;
  readonly networks: readonly string[];
  readonly namespace: string;
  /** By network. */
  readonly addresses: ReadonlyMap<string, string>;
}

describe.skipIf(!isRoot || noNetworks !== undefined).each(FILTERS)(
  "walls between networks, by %s (need root and CNI plugins)",
  (filter) => {
    const scene = useEngine();
    const host = useNetworkHost(scene, filter);

    async function member(name: string, networks: readonly string[], subnets: ReadonlyMap<string, string>): Promise<Member> {
      const one = async () => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}?group=walls`)).text);
      await until(async () => (await one()).known === "RUNNING", LONGEST_MS);
      const namespace = join(scene.directory, "run/networks", (await one()).id);
      const links = JSON.parse(await host.inside(namespace, "ip", "-j", "-4", "addr")) as { addr_info: { local: string }[] }[];
      const all = links.flatMap(({ addr_info }) => addr_info.map(({ local }) => local));
      const addresses = networks.map((network) => [network, all.find((local) => local.startsWith(subnets.get(network)!))!] as const);
      return { name, networks, namespace, addresses: new Map(addresses) };
    }

    async function ask(namespace: string, addresses: readonly string[]): Promise<Readonly<Record<string, string>>> {
      return JSON.parse(await host.inside(namespace, ...ASK(addresses)));
    }

    test.each(Array.from({ length: ROUNDS }, (_, round) => SEED + round))(
      "a task reaches exactly the addresses of its own networks, and published ports; seed %i",
      async (seed) => {
        await host.daemon();
        const below = random(seed);
        const subnets = new Map(NETWORKS.map((name, at) => [name, `10.99.${at}.`]));
        const isInternal = new Map(NETWORKS.map((name) => [name, below(3) === 0]));
        // The ports of the host lead to the first task, which is therefore in a network with a way out.
        isInternal.set("red", false);
        isInternal.set("blue", true);
        const asked = Array.from({ length: TASKS }, (_, at) => {
          if (at === TASKS - 1) return ["blue"];
          const first = at === 0 ? "red" : NETWORKS[below(3)]!;
          return [first, ...NETWORKS.filter((name) => name !== first && below(4) === 0)];
        });
        const service = (networks: readonly string[], at: number) => ({
          ...{ "x-runt-rootfs": scene.rootfs(), command: ["sh", "-c", SLEEP.replaceAll("$", "$$$$")], stop_grace_period: "5s", networks },
          ...(at === 0 ? { ports: [`${PUBLISHED}:${PORT}`] } : {}),
        });
        const networks = NETWORKS.map((name) => [
          name,
          { internal: isInternal.get(name), ipam: { config: [{ subnet: `${subnets.get(name)}0/24` }] } },
        ]);
        const used = networks.filter(([name]) => asked.some((one) => one.includes(name as string)));
        const file = scene.file(
          "compose.yaml",
          JSON.stringify({
            ...{ name: "walls", services: Object.fromEntries(asked.map((one, at) => [`t${at}`, service(one, at)])) },
            networks: Object.fromEntries(used),
          }),
        );
        expect(await scene.ctl("apply", "-f", file)).toMatchObject({ status: 0, stderr: "" });
        const all = await Promise.all(asked.map((one, at) => member(`t${at}`, one, subnets)));
        await Promise.all(all.map(({ name, namespace }) => host.serve("nsenter", `--net=${namespace}`, ...SERVE(name))));

        // A neighbour of the host, with a way to the networks through it.
        const lan = join(scene.directory, `lan-${seed}`);
        writeFileSync(lan, "");
        execFileSync("unshare", [`--net=${lan}`, "ip", "link", "set", "lo", "up"]);
        try {
          await host.on("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "lan1", "netns", lan);
          await host.on("sh", "-c", "ip addr add 192.168.77.1/24 dev lan0; ip link set lan0 up");
          await host.inside(
            lan,
            "sh",
            "-c",
            "ip addr add 192.168.77.2/24 dev lan1; ip link set lan1 up; ip route add default via 192.168.77.1",
          );
          const targets = all.flatMap(({ name, addresses }) =>
            [...addresses].map(([network, local]) => ({ name, network, at: `${local}:${PORT}` })),
          );
          const published = `192.168.77.1:${PUBLISHED}`;

          for (const one of all) {
            const expected = targets.map(({ name, network, at }) => [at, one.name === name || one.networks.includes(network) ? name : ""]);
            // The default route is one of these.
            const hasWayOut = one.networks.some((network) => !isInternal.get(network));
            expect(await ask(one.namespace, [...targets.map(({ at }) => at), published])).toEqual(
              Object.fromEntries([...expected, [published, hasWayOut ? "t0" : ""]]),
            );
          }
          const outside = targets.map(({ at }) => [at, ""]);
          expect(await ask(lan, [...targets.map(({ at }) => at), published])).toEqual(Object.fromEntries([...outside, [published, "t0"]]));
          const fromHost = targets.map(({ name, at }) => [at, name]);
          expect(
            await ask(
              host.path,
              targets.map(({ at }) => at),
            ),
          ).toEqual(Object.fromEntries(fromHost));
        } finally {
          execFileSync("umount", ["--lazy", lan]);
        }
        expect((await scene.ctl("delete", "-f", file)).status).toBe(0);
        await until(async () => (await host.left()).length === 0);
        expect(await host.rules()).toEqual([]);
      },
      LONGEST_MS,
    );
  },
);
