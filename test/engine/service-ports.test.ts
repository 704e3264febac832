/** Ports of the host that belong to services: what clients of every kind see while tasks become ready, are replaced, restarted and removed, and while others change the packet filter. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TaskView } from "../../src/engine/index.ts";
import { program } from "../support/programs.ts";
import { FILTERS, processesIn, taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { eventsOf, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";

const PORT = 30_480;
const SIGTERM = 15;

/** Makes so many requests, one after the other, each by a connection of its own; prints a JSON list of what has come, or the code of the error. */
const ASK = (url: string, count: number, from = "") => [
  process.execPath,
  "-e",
  `const http = require('http'); const found = []; const from = '${from}';
   const one = () => found.length === ${count} ? console.log(JSON.stringify(found)) :
     http.get('${url}', { agent: false, timeout: 2000, ...(from && { localAddress: from }) }, (r) => { let t = ''; r.on('data', (d) => { t += d; }); r.on('end', () => { found.push(t.trim()); one(); }); })
       .on('timeout', function () { this.destroy(new Error('silence')); }).on('error', (e) => { found.push(e.code ?? e.message); one(); });
   one();`,
];

/** Requests at a time: beside other tests a client cannot send all that it is told to, and its connections would wait longer and longer for their requests. */
const MOST_OPEN = 20;

/** Asks all the time, until its standard input ends: by connections of their own, and by some that are kept. Then it prints the number of answers by name, and each failure. */
const STEADY = (url: string, everyMs: number) => [
  process.execPath,
  "-e",
  `const http = require('http'); const names = {}, failures = []; let open = 0, over = false;
   const agents = [false, ...Array.from({ length: 4 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))];
   const ask = (agent) => { open++; const begun = Date.now(); let done = false;
     const end = (why) => { if (done) return; done = true; open--; if (why) failures.push([agent ? 'kept' : 'own', why, Date.now() - begun]); };
     http.get('${url}', { agent, timeout: 20000 }, (r) => { let t = ''; r.on('data', (d) => { t += d; });
       r.on('end', () => { names[t.trim()] = (names[t.trim()] ?? 0) + 1; end(); }).on('error', (e) => end(e.message)); })
       .on('timeout', function () { this.destroy(new Error('silence')); }).on('error', (e) => end(e.message)); };
   console.log('up');
   const timers = agents.map((agent) => setInterval(() => open < ${MOST_OPEN} && ask(agent), agent ? 4 * ${everyMs} : ${everyMs}));
   process.stdin.resume().on('end', () => { timers.forEach(clearInterval);
     setInterval(() => { if (open === 0) { console.log(JSON.stringify({ names, failures })); process.exit(); } }, 10); });`,
];

describe.skipIf(!isRoot || noNetworks !== undefined).each(FILTERS)("ports of services, by %s (needs root and CNI plugins)", (filter) => {
  const scene = useEngine();
  const host = useNetworkHost(scene, filter);
  const rootfs = () => {
    cpSync(program("server"), join(scene.rootfs(), "server"));
    return scene.rootfs();
  };
  const set = (name: string, replicas: number, version = "", fields: object = {}) => ({
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name } },
    spec: {
      ...{ replicas, selector: { matchLabels: { app: name } } },
      template: {
        metadata: { labels: { app: name }, annotations: { "runt.dev/rootfs.main": rootfs() } },
        spec: {
          containers: [{ name: "main", command: ["/bin/sh", "-c", `exec /server $HOSTNAME${version} 8080`], ...fields }],
          terminationGracePeriodSeconds: 20,
        },
      },
    },
  });
  const service = (name: string, spec: object = {}) => ({
    ...{ apiVersion: "v1", kind: "Service", metadata: { name } },
    spec: { type: "NodePort", selector: { app: name }, ports: [{ port: 80, targetPort: 8080, nodePort: PORT }], ...spec },
  });
  const apply = async (...documents: readonly object[]) => {
    const answer = await http(scene.socket, "POST", "/v1/apply", { text: documents.map((one) => JSON.stringify(one)).join("\n---\n") });
    expect(answer.status, answer.text).toBe(200);
  };
  const tasks = async (): Promise<TaskView[]> => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks;
  const ready = async (...names: readonly string[]) => {
    for (const name of names) await until(async () => (await taskOf(scene, name)).readiness.state === "ready", LONGEST_MS);
  };
  const remove = async (...names: readonly string[]) => {
    for (const name of names) await http(scene.socket, "DELETE", `/v1/tasks/${name}`);
    for (const name of names) await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}`)).status === 404, LONGEST_MS);
  };
  const namespaceOf = async (task: string) => join(scene.directory, "run/networks", (await taskOf(scene, task)).id);
  const url = (address = "127.0.0.1", port = PORT) => `http://${address}:${port}/`;
  const ask = async (count: number, at = url(), from = ""): Promise<string[]> => JSON.parse(await host.on(...ASK(at, count, from)));
  const names = async (at = url()) => [...new Set(await ask(24, at))].sort();
  const { rules } = host;
  /** What other programs do to the rules of a service. */
  const damages = (whole: readonly string[]) => {
    if (filter === "iptables")
      return [
        "iptables -t nat -F",
        "iptables -t filter -F INPUT; iptables -t nat -D OUTPUT 1",
        "iptables -t nat -F && iptables -t nat -X && iptables -F && iptables -X",
        `iptables -t nat -A ${/^:(RUNT-PORTS-\S+)/m.exec(whole.join("\n"))![1]} -p tcp -j ACCEPT`,
      ];
    const table = /^table (ip runt-\S+)/m.exec(whole.join("\n"))![1];
    return [
      "nft flush ruleset",
      `nft delete table ${table}`,
      `nft flush table ${table}`,
      `nft flush set ${table} served`,
      `nft flush chain ${table} lead`,
      `nft delete element ${table} services '{ tcp . ${PORT} }'`,
      `nft add element ${table} ports '{ tcp . 9 : 192.0.2.1 . 9 }'`,
      `nft insert rule ${table} output accept`,
    ];
  };

  test(
    "a node port leads to all pods that are ready, for the host, its other addresses, a pod itself, its neighbours and other networks; without one it is refused at once",
    async () => {
      await host.daemon();
      const probe = { readinessProbe: { exec: { command: ["/bin/sh", "-c", "test ! -e /dev/shm/unready"] }, periodSeconds: 1 } };
      await host.on("sh", "-c", "ip link add other type veth peer name other1; ip addr add 192.0.2.1/24 dev other; ip link set other up");
      const elsewhere = {
        name: "stranger",
        network: {},
        containers: [{ name: "c", rootfs: rootfs(), command: "/bin/sleep", args: ["1000"], stopTimeout: "1s" }],
      };
      await apply(service("web"), set("web", 3, "", probe));
      await apply(elsewhere);
      await ready("web-0", "web-1", "web-2", "stranger");
      // A firewall that answers nobody: a refusal has to come from the port itself.
      await host.on("iptables", "-P", "INPUT", "DROP");
      await host.on("iptables", "-A", "INPUT", "-m", "conntrack", "--ctstate", "ESTABLISHED,RELATED", "-j", "ACCEPT");
      const all = ["web-0", "web-1", "web-2"];
      await until(async () => (await names()).length === 3);
      expect([await names(), await names(url("192.0.2.1"))]).toEqual([all, all]);
      for (const task of ["web-0", "stranger"]) {
        const found = JSON.parse(await host.inside(await namespaceOf(task), ...ASK(url("192.0.2.1"), 24)));
        expect([...new Set(found)].sort(), task).toEqual(all);
      }
      const mark = (task: string, command: string) => scene.ctl("exec", task, "-c", "main", "--", command, "/dev/shm/unready");
      await mark("web-1", "touch");
      await until(async () => (await taskOf(scene, "web-1")).readiness.state === "waits");
      const changed = performance.now();
      await until(async () => !(await ask(12)).includes("web-1"));
      // A second, but also beside other tests, and with a look of a dozen requests.
      expect(performance.now() - changed).toBeLessThan(20_000);
      expect(await names()).toEqual(["web-0", "web-2"]);
      for (const task of ["web-0", "web-2"]) await mark(task, "touch");
      await until(async () => String(await ask(2)) === "ECONNREFUSED,ECONNREFUSED");
      expect(await ask(2, url("192.0.2.1"))).toEqual(["ECONNREFUSED", "ECONNREFUSED"]);
      await mark("web-2", "rm");
      await until(async () => String(await ask(3)) === "web-2,web-2,web-2");
      await remove(...all, "stranger");
      expect([await rules(), await host.left()]).toEqual([[], ["other1", "other"].map((one) => expect.stringContaining(one))]);
    },
    LONGEST_MS,
  );

  test(
    "clients of a sticky service stay with their pod; a killed daemon, and rules that others remove, change nothing that lasts",
    async () => {
      const daemon = await host.daemon();
      await apply(service("web", { sessionAffinity: "ClientIP" }), set("web", 3));
      await ready("web-0", "web-1", "web-2");
      await until(async () => /^web-.$/.test((await ask(1))[0]!));
      const clients = Array.from({ length: 12 }, (_, at) => `127.0.1.${at + 1}`);
      const of = async () => Promise.all(clients.map((from) => ask(3, url(), from)));
      const before = await of();
      for (const answers of before) expect(new Set(answers).size).toBe(1);
      expect(new Set(before.flat()).size).toBeGreaterThan(1);
      // Those of the next daemon may be the same later than clients are led again.
      const whole = await rules();
      const isWhole = async () => String((await rules()).toSorted()) === String(whole.toSorted());
      await daemon.kill();
      expect(await of()).toEqual(before);
      // It is gone while nobody looks, and the next daemon writes it again.
      await host.on("sh", "-c", damages(whole)[filter === "nft" ? 0 : 2]!);
      expect(await ask(1)).toEqual(["ECONNREFUSED"]);
      await host.daemon();
      await until(async () => (await ask(1, url(), clients[0]))[0] === before[0]![0]);
      await until(isWhole, LONGEST_MS);
      const mendings = async () => (await eventsOf(scene.socket, 0)).filter(({ data }) => data["type"] === "packetFilter").length;
      for (const damage of damages(whole)) {
        const before = await mendings();
        await host.on("sh", "-c", damage);
        await until(
          async () => (await mendings()) > before && (await isWhole()),
          20_000,
          () => damage,
        );
      }
      expect(await of()).toEqual(before);
      // What a killed daemon could not remove, the next one does.
      await remove("web-0", "web-1", "web-2");
      expect([await rules(), await host.left()]).toEqual([[], []]);
    },
    LONGEST_MS,
  );

  test(
    "while a service is replaced, restarted and stopped one task after the other, also by a daemon after one that was killed, no request fails, by new connections and by kept ones",
    async () => {
      const daemon = await host.daemon();
      const probe = { readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 } };
      await apply(service("web"), set("web", 3, "-v1", probe));
      await ready("web-0", "web-1", "web-2");
      await until(async () => (await names()).length === 3);
      const client = host.client(...STEADY(url(), 10));
      await apply(service("web"), set("web", 3, "-v2", probe));
      const isV2 = async () => (await tasks()).length === 3 && (await names()).every((name) => name.endsWith("-v2"));
      await until(isV2, LONGEST_MS);
      for (const name of ["web-0", "web-1", "web-2"]) {
        const main = async () => (await taskOf(scene, name)).containers.find((one: { name: string }) => one.name === "main").id;
        const before = await main();
        expect((await scene.ctl("restart", name)).status).toBe(0);
        await until(async () => (await main()) !== before, LONGEST_MS);
        await ready(name);
      }
      // A daemon that dies in the middle leaves a port that works, and the next one goes on.
      await apply(service("web"), set("web", 3, "-v3", probe));
      await until(async () => (await tasks()).length > 3);
      await daemon.kill();
      await host.daemon();
      await until(async () => (await tasks()).length === 3 && (await names()).every((name) => name.endsWith("-v3")), LONGEST_MS);
      await remove("web-2", "web-1");
      const { names: answered, failures } = JSON.parse(await client.end());
      expect(failures).toEqual([]);
      for (const version of ["-v1", "-v2", "-v3"]) for (const at of [0, 1, 2]) expect(answered[`web-${at}${version}`]).toBeGreaterThan(0);
      await remove("web-0");
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test.runIf(filter === FILTERS[0])(
    "R8: a task is stopped when its program has accepted the connections that were led to it, or two seconds after the rules have changed",
    async () => {
      await host.daemon();
      await apply(service("web"), set("web", 1));
      await ready("web-0");
      await until(async () => (await ask(1))[0] === "web-0");
      const isServer = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/server");
      const pid = processesIn(await namespaceOf("web-0")).find(isServer)!;
      // It accepts nothing from here on.
      process.kill(pid, "SIGSTOP");
      const asked = ask(1);
      asked.catch(() => {});
      await until(() => / 0A \S+:0*1 /.test(readFileSync(`/proc/${pid}/net/tcp`, "latin1")));
      const begun = performance.now();
      expect((await http(scene.socket, "POST", "/v1/tasks/web-0/stop")).status).toBe(202);
      const pending = () => BigInt(`0x${/^ShdPnd:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))![1]}`);
      await until(() => (pending() >> BigInt(SIGTERM - 1)) % 2n === 1n, LONGEST_MS);
      expect(performance.now() - begun).toBeGreaterThan(1_999);
      process.kill(pid, "SIGCONT");
      await asked;
      await remove("web-0");
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "clients of UDP that never pause go to a pod that is there, by the port of the host and by the address of the service",
    async () => {
      await host.daemon();
      const ports = [{ port: 53, targetPort: 8080, protocol: "UDP", nodePort: PORT }];
      await apply(service("web", { ports, clusterIP: "10.96.7.9" }), set("web", 2), set("client", 1));
      await ready("web-0", "web-1", "client-0");
      const ask = (address: string, port: number) => [
        process.execPath,
        "-e",
        `const s = require('dgram').createSocket('udp4').bind(40000); s.on('message', (m) => console.log(String(m))).on('error', () => {});
         s.on('listening', () => console.log('up')); const t = setInterval(() => s.send('x', ${port}, '${address}'), 20);
         process.stdin.resume().on('end', () => process.exit());`,
      ];
      const clients = [
        host.client(...ask("127.0.0.1", PORT)),
        host.client(`--net=${await namespaceOf("client-0")}`, ...ask("10.96.7.9", 53)),
      ];
      const last = (at: number) => clients[at]!.text().trimEnd().split("\n").at(-1);
      for (const at of [0, 1]) await until(() => /^web-.$/.test(last(at)!));
      // One by one, until both have had to change.
      const chosen = [last(0), last(1)];
      await remove(chosen[0]!);
      for (const at of [0, 1]) await until(() => last(at) !== chosen[0] && /^web-.$/.test(last(at)!));
      const [left] = ["web-0", "web-1"].filter((name) => name !== chosen[0]);
      await remove(left!);
      await apply(service("web", { ports, clusterIP: "10.96.7.9" }), set("web", 1, "-new"), set("client", 1));
      for (const at of [0, 1]) await until(() => last(at) === "web-0-new");
      for (const client of clients) await client.end();
      await remove("web-0", "client-0");
      expect([await rules(), await host.left()]).toEqual([[], []]);
    },
    LONGEST_MS,
  );

  test(
    "containers of a Compose service share its port; another service does not get it, but on another address of the host",
    async () => {
      await host.daemon();
      const one = (name: string, port: string, fields: object = {}) => ({
        [name]: { "x-runt-rootfs": rootfs(), command: ["sh", "-c", "exec /server $$HOSTNAME 8080"], ports: [`${port}:8080`], ...fields },
      });
      const file = (...services: object[]) =>
        scene.file("compose.yaml", JSON.stringify({ name: "default", services: Object.assign({}, ...services) }));
      const shared = one("web", "127.0.0.1:8090", { deploy: { replicas: 3 } });
      const applied = await scene.ctl("apply", "-f", file(shared, one("other", "127.0.0.2:8090"), one("late", "127.0.0.1:8090")));
      expect(applied.status, applied.stderr).toBe(0);
      await ready("web", "web-2", "web-3", "other");
      await until(async () => (await names(url("127.0.0.1", 8090))).length === 3);
      expect([await names(url("127.0.0.1", 8090)), await names(url("127.0.0.2", 8090))]).toEqual([["web", "web-2", "web-3"], ["other"]]);
      expect((await taskOf(scene, "late")).waiting).toEqual([
        expect.stringMatching(/^port: 127\.0\.0\.1:8090\/tcp is taken by default\.web/),
      ]);
      await remove("web", "web-2", "web-3");
      await ready("late");
      await until(async () => String(await names(url("127.0.0.1", 8090))) === "late");
      await remove("late", "other");
      expect([await rules(), await host.left()]).toEqual([[], []]);
    },
    LONGEST_MS,
  );
});
