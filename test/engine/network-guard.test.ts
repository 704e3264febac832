/** What a task that may change its own namespace cannot reach: loopback of the host, and the metadata of its cloud. */
import { describe, expect, test } from "vitest";
import { FILTERS, taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

const METADATA = "169.254.169.254";
const METADATA_V6 = "fd00:ec2::254";
const SERVE = (address: string) => [
  process.execPath,
  "-e",
  `require('net').createServer((s) => s.end('secret')).listen(80, '${address}', () => console.log('up'))`,
];
const CONNECT = (address: string) => [
  process.execPath,
  "-e",
  `const s = require('net').connect(80, '${address}'); s.setTimeout(2000, () => { console.log('silence'); process.exit(); });` +
    "s.on('data', (d) => console.log(String(d))); s.on('error', (e) => console.log(e.code))",
];
/** What CAP_NET_ADMIN allows: the obstacles inside of the namespace go. */
const OPEN = (gateway: string) =>
  `ip route del blackhole ${METADATA}; echo 1 > /proc/sys/net/ipv4/conf/eth0/route_localnet; ip addr del 127.0.0.1/8 dev lo;
   ip route flush table local 127.0.0.0/8; ip route add 127.0.0.1 via ${gateway}; true`;

describe.skipIf(!isRoot || noNetworks !== undefined).each(FILTERS)(
  "what is kept away on the side of the host by %s (needs root and CNI plugins)",
  (filter) => {
    const scene = useEngine();
    const host = useNetworkHost(scene, filter);
    const apply = async (name: string, network: object) => {
      expect(
        (await http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), name, [{ name: "main" }], { network }) })).text,
      ).toContain("created");
      await until(async () => (await taskOf(scene, name)).known === "RUNNING", LONGEST_MS);
    };
    const remove = async (name: string) => {
      expect((await http(scene.socket, "DELETE", `/v1/tasks/${name}`)).status).toBe(202);
      await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}`)).status === 404);
    };
    const namespaceOf = (task: string) => {
      const found = scene.list().find(({ id, status }) => id.includes(`.${task}.`) && id.includes(".main-") && status === "running");
      return `/proc/${found?.pid ?? 0}/ns/net`;
    };
    const answer = async (task: string, address: string) => (await host.inside(namespaceOf(task), ...CONNECT(address))).trim();
    const flush = filter === "nft" ? ["nft", "flush", "ruleset"] : ["iptables", "-t", "raw", "-F"];

    test(
      "without what blocks them in its own namespace a task reaches neither; a task that may have the metadata does; the rules are restored, and go with the network",
      async () => {
        const daemon = await host.daemon();
        await host.on(
          "sh",
          "-c",
          `ip link add cloud type dummy || ip link add cloud type veth peer name cloud1; ip addr add ${METADATA}/32 dev cloud; ip link set cloud up`,
        );
        await host.serve(...SERVE(METADATA));
        await host.serve(...SERVE("127.0.0.1"));
        // A port of the host, for which the bridge takes packets of loopback.
        await apply("blind", { ports: [{ container: 80, host: 8080 }] });
        await apply("seeing", { metadata: true });
        const gateway = /default via (\S+)/.exec(await host.inside(namespaceOf("blind"), "ip", "route"))![1]!;
        await host.inside(namespaceOf("blind"), "sh", "-c", OPEN(gateway));
        expect([await answer("seeing", METADATA), await answer("blind", METADATA), await answer("blind", "127.0.0.1")]).toEqual([
          "secret",
          "silence",
          "silence",
        ]);

        // It is these rules that keep them away. The daemon brings back what somebody has removed, and so does a new one.
        const whole = (await host.rules()).toSorted();
        await host.on(...flush);
        await until(async () => String((await host.rules()).toSorted()) === String(whole));
        await daemon.kill();
        await host.on(...flush);
        expect([await answer("blind", METADATA), await answer("blind", "127.0.0.1")]).toEqual(["secret", "secret"]);
        await host.daemon();
        await until(async () => String((await host.rules()).toSorted()) === String(whole));
        expect([await answer("seeing", METADATA), await answer("blind", METADATA), await answer("blind", "127.0.0.1")]).toEqual([
          "secret",
          "silence",
          "silence",
        ]);

        // Its address may be somebody else's now.
        const address = (await taskOf(scene, "seeing")).addresses[0].split("/")[0];
        expect(String(await host.rules())).toMatch(new RegExp(`${address}\\b`));
        await remove("seeing");
        expect(String(await host.rules())).not.toMatch(new RegExp(`${address}\\b`));
        await remove("blind");
        expect(await host.rules()).toEqual([]);
      },
      LONGEST_MS,
    );

    test(
      "the host drops all IPv6 packets from a bridge, whatever route a task has made for itself; that is restored",
      async () => {
        const daemon = await host.daemon();
        await host.on(
          "sh",
          "-c",
          `ip link add cloud type veth peer name cloud1; ip addr add ${METADATA_V6}/128 dev cloud nodad; ip link set cloud up`,
        );
        await host.serve(...SERVE(METADATA_V6));
        await apply("blind", {});
        const bridge = (await host.on("sh", "-c", "ip -o link show type bridge")).split(": ")[1]!;
        const macIn = (text: string) => /link\/ether (\S+)/.exec(text)![1];
        const mac = macIn(await host.on("ip", "link", "show", bridge));
        const open = `ip -6 route del blackhole ${METADATA_V6}; ip -6 addr add fd00:99::2/64 dev eth0 nodad; ip -6 route add ${METADATA_V6} dev eth0;
        ip -6 neigh add ${METADATA_V6} lladdr ${mac} dev eth0`;
        await host.inside(namespaceOf("blind"), "sh", "-c", open);
        expect(await answer("blind", METADATA_V6)).toBe("silence");
        // It is this that keeps it away. A new daemon brings it back.
        const mine = macIn(await host.inside(namespaceOf("blind"), "ip", "link", "show", "eth0"));
        const takes = `echo 0 > /proc/sys/net/ipv6/conf/${bridge}/disable_ipv6; ip -6 route replace fd00:99::/64 dev ${bridge};
        ip -6 neigh replace fd00:99::2 lladdr ${mine} dev ${bridge}`;
        // With iptables the daemon looks every second or two, and closes it again.
        await until(async () => {
          await host.on("sh", "-c", takes);
          return (await answer("blind", METADATA_V6)) === "secret";
        });
        await daemon.kill();
        await host.daemon();
        await until(async () => (await host.on("cat", `/proc/sys/net/ipv6/conf/${bridge}/disable_ipv6`)).trim() === "1");
        expect(await answer("blind", METADATA_V6)).toBe("silence");
        await remove("blind");
      },
      LONGEST_MS,
    );
  },
);
