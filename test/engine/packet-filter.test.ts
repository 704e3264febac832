/** The table of nftables: rules come back after others have removed them, are taken over from iptables and back while tasks run, and nothing of others is changed. */
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { program } from "../support/programs.ts";
import { random } from "../support/random.ts";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks, TEST_PLUGINS } from "./network-plugins.ts";
import { type Daemon, eventsOf, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

/** RUNT_ENGINE_FILTER=1000 for more of them, RUNT_ENGINE_SEED=7 for others. */
const CHANGES = Number(process.env["RUNT_ENGINE_FILTER"] ?? 12);
const SEED = Number(process.env["RUNT_ENGINE_SEED"] ?? 1);
const PORT = 18_200;

/** Asks all the time, each time by a new connection; prints the failures when its standard input ends. */
const STEADY = [
  process.execPath,
  "-e",
  `const http = require('http'), failures = []; let open = 0, count = 0; console.log('up');
   const timer = setInterval(() => { if (open > 5) return; open++; const end = (why) => { open--; count++; if (why) failures.push(why); };
     http.get('http://127.0.0.1:${PORT}/', { agent: false, timeout: 20000 }, (r) => { r.resume(); r.on('end', () => end()); })
       .on('timeout', function () { this.destroy(new Error('silence')); }).on('error', (e) => end(e.message)); }, 10);
   process.stdin.resume().on('end', () => { clearInterval(timer);
     setInterval(() => { if (open === 0) { console.log(JSON.stringify({ count, failures })); process.exit(); } }, 10); });`,
];
/** Prints the name of who answers, by TCP or UDP, or the error. */
const ASK = (port: number) => [
  process.execPath,
  "-e",
  `require('http').get('http://127.0.0.1:${port}/', { agent: false, timeout: 2000 }, (r) => r.pipe(process.stdout))
     .on('timeout', function () { this.destroy(new Error('silence')); }).on('error', (e) => console.log(e.code ?? e.message));`,
];
const ASK_UDP = (port: number) => [
  process.execPath,
  "-e",
  `const s = require('dgram').createSocket('udp4'); s.on('message', (m) => { console.log(String(m)); process.exit(); });
   s.on('error', () => {}); setInterval(() => s.send('x', ${port}, '127.0.0.1'), 50); setTimeout(() => process.exit(), 5000);`,
];
/** Rules of others, in tables of both kinds. */
const OTHERS = `nft add table inet theirs; nft add chain inet theirs in '{ type filter hook input priority 0; policy accept; }'
  nft add rule inet theirs in tcp dport 9 drop comment '"runt: default.n0.1"'; nft add set inet theirs ports '{ type inet_service; }'
  nft add element inet theirs ports '{ 80, 443 }'; nft add table ip runt-other; nft add chain ip runt-other from-rt-1
  iptables -N THEIRS; iptables -A THEIRS -p tcp --dport 7 -j DROP; iptables -A INPUT -j THEIRS
  iptables -t nat -A PREROUTING -p tcp --dport 6 -m comment --comment 'name: "theirs" id: "default.n0.1"' -j REDIRECT --to-ports 7`;

describe.skipIf(!isRoot || noNetworks !== undefined)("the packet filter (needs root, CNI plugins, nft and iptables)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const rootfs = () => {
    cpSync(program("server"), join(scene.rootfs(), "server"));
    return scene.rootfs();
  };
  const text = (name: string, ports: readonly object[]) =>
    taskText(rootfs(), name, [{ name: "main", script: `exec /server ${name} 80`, fields: { stopSignal: "SIGKILL" } }], {
      network: { ports },
    });
  const apply = async (...texts: readonly string[]) => {
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: texts.join("\n---\n") });
    expect(answer.status, answer.text).toBe(200);
  };
  const running = (name: string) => until(async () => (await taskOf(scene, name)).known === "RUNNING", LONGEST_MS);
  const remove = async (name: string) => {
    await http(scene.socket, "DELETE", `/v1/tasks/${name}`);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}`)).status === 404, LONGEST_MS);
  };
  const ask = async (port = PORT) => (await host.on(...ASK(port))).trim();
  const askUdp = async (port = PORT) => (await host.on(...ASK_UDP(port))).trim();
  const conditions = async (): Promise<{ type: string; message: string }[]> =>
    JSON.parse((await http(scene.socket, "GET", "/v1/node")).text).conditions;
  const ofIptables = async () => (await host.rules()).filter((line) => /CNI-|RUNT-/.test(line));

  test(
    "what another program removes from the table comes back, as an event and a condition tell; a connection that is there goes on",
    async () => {
      await host.daemon();
      await apply(
        text("web", [
          { container: 80, host: PORT },
          { container: 80, host: PORT, protocol: "udp" },
        ]),
      );
      await running("web");
      await until(async () => (await ask()) === "web");
      expect(await askUdp()).toBe("web");
      const whole = await host.rules();
      const table = /^table (ip runt-\S+)/m.exec(whole.join("\n"))![1]!;
      const kept = host.client(
        process.execPath,
        "-e",
        `const s = require('net').connect(${PORT}, '127.0.0.1', () => console.log('up'));
        s.on('data', (d) => console.log(String(d).split(' ')[1])).on('error', (e) => console.log(e.code));
        process.stdin.resume().on('end', () => s.end('GET / HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n'))`,
      );
      await until(() => kept.text() !== "");
      for (const damage of ["nft flush ruleset", `nft delete table ${table}`, `nft flush table ${table}`, `nft flush map ${table} ports`]) {
        await host.on("sh", "-c", damage);
        await until(
          async () => String(await host.rules()) === String(whole),
          LONGEST_MS,
          () => damage,
        );
      }
      expect(await ask()).toBe("web");
      expect((await kept.end()).trim()).toBe("200");
      await until(async () => (await conditions()).some(({ type, message }) => type === "PacketFilterChanged" && message.includes(table)));
      const told = (await eventsOf(scene.socket, 0)).flatMap(({ data }) => (data["type"] === "packetFilter" ? [data["message"]] : []));
      expect(told).toContain(`another program has removed the table ${table}`);
      expect((await scene.ctl("events")).stdout).toMatch(/packet filter {2}another program has removed the table .*; it is written again/);
      await remove("web");
      expect(await host.left()).toEqual([]);
      // A table of this name that is for another state directory is left alone.
      const theirs = `nft add table ${table}; nft add chain ${table} identity; nft add rule ${table} identity return comment '"runt: state directory 1-2"'`;
      await host.on("sh", "-c", theirs);
      const before = String(await host.rules());
      await apply(text("late", [{ container: 80, host: PORT }]));
      await until(async () => (await taskOf(scene, "late")).known === "STOPPED");
      expect((await taskOf(scene, "late")).reason).toContain(`the table ${table} is not of this engine, but of the state directory 1-2`);
      expect(String(await host.rules())).toBe(before);
      await host.on("nft", "delete", "table", ...table.split(" "));
      await remove("late");
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "rules of iptables, also those of the plugin portmap, are taken over while tasks run, and back; no connection fails; they go with their tasks",
    async () => {
      const first = await host.daemon({ args: ["--packet-filter", "iptables"] });
      const service = [{ container: 80, host: PORT + 2, service: { name: "both" } }];
      await apply(
        text("web", [
          { container: 80, host: PORT },
          { container: 80, host: PORT, protocol: "udp" },
        ]),
        text("old", []),
        text("part", service),
      );
      for (const name of ["web", "old", "part"]) await running(name);
      await until(async () => String([await ask(), await ask(PORT + 2)]) === "web,part");
      await first.kill();
      await mapByPlugin("old", PORT + 1);
      await until(async () => (await ask(PORT + 1)) === "old");
      const client = host.client(...STEADY);
      const answers = async () => [await ask(), await askUdp(), await ask(PORT + 1), await ask(PORT + 2)];
      let daemon: Daemon | undefined;
      for (const filter of ["nft", "iptables", "nft"]) {
        await daemon?.kill();
        daemon = await host.daemon({ args: ["--packet-filter", filter] });
        const isDone = async () => ((await ofIptables()).some((line) => !/HOSTPORT/.test(line)) ? "iptables" : "nft") === filter;
        await until(async () => (await isDone()) && (filter === "nft" || !String(await host.rules()).includes("table ip")));
        expect(await answers(), filter).toEqual(["web", "web", "old", "part"]);
      }
      const { count, failures } = JSON.parse(await client.end());
      expect([count > 10, failures]).toEqual([true, []]);
      for (const name of ["web", "old", "part"]) await remove(name);
      // Chains that all containers of the plugin share are not of this engine alone.
      expect((await host.left()).filter((line) => !line.includes("CNI-HOSTPORT"))).toEqual([]);
    },
    LONGEST_MS,
  );

  /** As an earlier version has made a port of a task that runs. */
  async function mapByPlugin(name: string, hostPort: number): Promise<void> {
    const attachments = join(scene.stateDir, "network/attachments");
    const file = readdirSync(attachments).find((one) => one.startsWith(`default.${name}.`))!;
    const attached = JSON.parse(readFileSync(join(attachments, file), "utf8"));
    const runtimeConfig = { portMappings: [{ hostPort, containerPort: 80, protocol: "tcp" }] };
    const plugin = { type: "portmap", snat: true, capabilities: { portMappings: true }, runtimeConfig };
    const [step] = attached.steps;
    step.plugins.push(plugin);
    writeFileSync(join(attachments, file), JSON.stringify(attached));
    const input = JSON.stringify({ ...plugin, cniVersion: "1.0.0", name: step.name, prevResult: attached.results[0] });
    const env = { CNI_COMMAND: "ADD", CNI_CONTAINERID: attached.containerId, CNI_NETNS: attached.namespace, CNI_IFNAME: step.interface };
    execFileSync("nsenter", [`--net=${host.path}`, join(TEST_PLUGINS, "portmap")], {
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: TEST_PLUGINS, ...env },
      input,
    });
  }

  test(
    `after ${CHANGES} random applies, removals and kills, what others have in the packet filter is the same, byte for byte; seed ${SEED}`,
    async () => {
      const below = random(SEED);
      await host.on("sh", "-c", OTHERS);
      const others = async () => {
        const all = await host.on("nft", "list", "ruleset");
        return all.replace(/^table (?:ip|bridge) runt-[0-9a-f]{8} \{\n(?:.+\n|\n(?=\t))*\}\n/gm, "");
      };
      const before = await others();
      expect(before).toContain("table ip runt-other");
      let daemon = await host.daemon();
      for (let at = 0; at < CHANGES; at++) {
        const name = `n${below(4)}`;
        const one = below(4);
        if (one < 2) await apply(text(name, [{ container: 80, host: PORT + below(3), protocol: below(2) === 0 ? "tcp" : "udp" }]));
        else await http(scene.socket, "DELETE", `/v1/tasks/${name}`);
        if (one === 3) {
          await new Promise((resolve) => setTimeout(resolve, below(300)));
          await daemon.kill();
          daemon = await host.daemon();
        }
      }
      expect(await others()).toBe(before);
      for (const name of ["n0", "n1", "n2", "n3"]) await remove(name);
      expect(await others()).toBe(before);
      const mine = (await host.rules()).filter((line) => line.includes("runt") && !/other|theirs|from-rt-1|default\.n0\.1/.test(line));
      expect(mine).toEqual([]);
    },
    LONGEST_MS,
  );
});
