/** A task that may change its own namespace sends only in its own name: not under the address or the MAC address of another task, and it claims no address of others. */
import { describe, expect, test } from "vitest";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

const PORT = 9000;
/** Prints what comes, until its standard input ends. */
const RECEIVE = `const s = require('dgram').createSocket('udp4'); s.on('message', (m, from) => console.log(m + ' of ' + from.address + ';'));
s.bind(${PORT}, () => console.log('up')); process.stdin.on('end', () => process.exit()).resume()`;
const SEND = (text: string, from: string, to: string) =>
  `const s = require('dgram').createSocket('udp4'); s.on('error', (e) => { console.log(e.code); s.close(); });
s.bind(0, '${from}', () => s.send('${text}', ${PORT}, '${to}', () => s.close()))`;

describe.skipIf(!isRoot || noNetworks !== undefined)("what a task may send (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene, "nft");
  const apply = async (name: string) => {
    const text = taskText(scene.rootfs(), name, [{ name: "main" }], {
      network: { name: "shop", ...(name === "c" ? { internal: true } : {}) },
    });
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
    await until(async () => (await taskOf(scene, name)).known === "RUNNING", LONGEST_MS);
    const found = scene.list().find(({ id, status }) => id.includes(`.${name}.`) && id.includes(".main-") && status === "running");
    const namespace = `/proc/${found!.pid}/ns/net`;
    const address = String((await taskOf(scene, name)).addresses[0]).split("/")[0]!;
    const mac = /link\/ether (\S+)/.exec(await host.inside(namespace, "ip", "link", "show", "eth0"))![1]!;
    const sh = (script: string) => host.inside(namespace, "sh", "-c", script);
    const receiver = host.client("nsenter", `--net=${namespace}`, process.execPath, "-e", RECEIVE);
    await until(() => receiver.text().startsWith("up"));
    const send = (text: string, to: string, from = address) => host.inside(namespace, process.execPath, "-e", SEND(text, from, to));
    return { name, address, mac, sh, send, got: receiver.text };
  };
  type Task = Awaited<ReturnType<typeof apply>>;
  let count = 0;
  /** It arrives behind what was sent before. */
  const arrives = async (from: Task, to: Task) => {
    const text = `own ${++count}`;
    await from.send(text, to.address);
    await until(() => to.got().includes(`${text} of ${from.address};`));
  };
  const withAddress = (one: Task, other: Task) => one.sh(`ip addr add ${other.address}/32 dev eth0`);
  const without = (one: Task, other: Task) => one.sh(`ip addr del ${other.address}/32 dev eth0`);

  test(
    "a false address, a false MAC address and a false answer of ARP do not arrive, and own packets do; the rules are restored, and go with the task",
    async () => {
      const daemon = await host.daemon();
      const [a, b, c] = [await apply("a"), await apply("b"), await apply("c")];
      await arrives(a, c);
      await arrives(b, c);

      await withAddress(a, b);
      await a.send("forged", c.address, b.address);
      await arrives(a, c);
      expect(c.got()).not.toContain("forged");

      // Only A answers who has the address of B.
      await b.sh("echo 8 > /proc/sys/net/ipv4/conf/all/arp_ignore");
      await c.sh(`echo 50 > /proc/sys/net/ipv4/neigh/eth0/retrans_time_ms; ip neigh flush to ${b.address}`);
      const neighbour = () => c.sh(`ip neigh show to ${b.address}`);
      await c.send("lost", b.address);
      await until(async () => /FAILED/.test(await neighbour()));
      expect(a.got()).not.toContain("lost");
      await b.sh("echo 0 > /proc/sys/net/ipv4/conf/all/arp_ignore");
      await arrives(c, b);
      expect(await neighbour()).toContain(b.mac);
      await without(a, b);

      await a.sh(`ip link set eth0 address ${b.mac} && ip neigh replace ${c.address} lladdr ${c.mac} dev eth0`);
      await a.send("forged", c.address);
      const learnt = await host.on("bridge", "fdb", "show");
      const ofB = learnt.split("\n").filter((line) => line.startsWith(b.mac) && !line.includes("permanent"));
      expect(new Set(ofB.map((line) => line.split(" ")[2])).size, learnt).toBe(1);
      await arrives(b, c);
      expect(c.got()).not.toContain("forged");
      await a.sh(`ip link set eth0 address ${a.mac}`);
      await arrives(a, c);

      // It is these rules. A new daemon brings them back.
      const whole = (await host.rules()).toSorted();
      await daemon.kill();
      await host.on("nft", "flush", "ruleset");
      await withAddress(a, b);
      await a.send("allowed", c.address, b.address);
      await until(() => c.got().includes(`allowed of ${b.address};`));
      await host.daemon();
      await until(async () => String((await host.rules()).toSorted()) === String(whole));
      await a.send("forged", c.address, b.address);
      await arrives(a, c);
      expect(c.got()).not.toContain("forged");
      for (const { name } of [a, b, c]) expect((await http(scene.socket, "DELETE", `/v1/tasks/${name}`)).status).toBe(202);
      await until(async () => (await host.left()).length === 0, LONGEST_MS);
    },
    LONGEST_MS,
  );
});
