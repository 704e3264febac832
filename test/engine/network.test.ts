/** Networks of tasks, as they look from inside, from the host, and from other tasks. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { namespaceOf } from "./kernel-files.ts";
import { pluginsWith, taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { type ContainerText, SLEEP, taskText } from "./tasks.ts";

const HTTPD =
  "d=/tmp/$(hostname) && mkdir -p $d && hostname > $d/name && httpd -p 80 -h $d && echo up; trap 'exit 0' TERM; sleep 1000 & wait $!";

describe.skipIf(!isRoot || noNetworks !== undefined)("networks of tasks (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const apply = async (name: string, network: object, containers: readonly ContainerText[] = [{ name: "main" }], further = {}) => {
    const answer = await http(scene.socket, "POST", "/v1/apply", {
      text: taskText(scene.rootfs(), name, containers, { network, ...further }),
    });
    expect(answer.text).toContain("created");
  };
  const running = (name: string) => until(async () => (await taskOf(scene, name)).known === "RUNNING", LONGEST_MS);
  const stopped = async (name: string) => {
    await until(async () => (await taskOf(scene, name)).known === "STOPPED");
    return (await taskOf(scene, name)).reason as string;
  };
  const remove = async (name: string) => {
    expect((await http(scene.socket, "DELETE", `/v1/tasks/${name}`)).status).toBe(202);
    await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}`)).status === 404);
  };
  const pidOf = (task: string, name: string) =>
    scene.list().find(({ id, status }) => id.includes(`.${task}.`) && id.includes(`.${name}-`) && status === "running")?.pid ?? 0;
  const printed = async (task: string, name = "main"): Promise<string> =>
    allPrinted((await taskOf(scene, task)).containers.find((one: { name: string }) => one.name === name).log);
  const FETCH = [process.execPath, "-e", "fetch(process.argv[1]).then((a) => a.text()).then(console.log)"];
  const fetched = (url: string) => host.on(...FETCH, url);
  const fetchedFrom = (task: string, url: string) => host.inside(`/proc/${pidOf(task, "main")}/ns/net`, ...FETCH, url);

  test(
    "E69 E70 E71 E84: two tasks behind the bridge, each with its address and its port; the host reaches both, and nothing is left after them",
    async () => {
      await host.daemon();
      for (const [name, port, further] of [["one", 18_080, []] as const, ["two", 18_081, [{ container: 53, protocol: "udp" }]] as const])
        await apply(name, { ports: [{ container: 80, host: port }, ...further] }, [{ name: "main", script: HTTPD }]);
      await Promise.all(["one", "two"].map(running));
      await until(async () => (await printed("one")) !== "" && (await printed("two")) !== "");
      const [one, two] = [await taskOf(scene, "one"), await taskOf(scene, "two")];
      expect(one.addresses).toEqual([expect.stringMatching(/^10\.\d+\.\d+\.\d+\/20$/)]);
      expect(two.addresses).not.toEqual(one.addresses);
      const address = one.addresses[0].split("/")[0];
      expect(await host.inside(`/proc/${pidOf("one", "main")}/ns/net`, "ip", "-o", "-4", "addr", "show", "eth0")).toContain(
        one.addresses[0],
      );
      // Whoever has seen an address finds the task.
      expect((await taskOf(scene, address)).name).toBe("one");
      for (const url of [`http://${address}/name`, "http://127.0.0.1:18080/name"]) expect(await fetched(url)).toBe("one\n\n");
      expect(await fetched("http://127.0.0.1:18081/name")).toBe("two\n\n");
      // A task reaches ports of the host, also its own, and what is there sees an address of the host.
      const gateway = (await host.inside(`/proc/${pidOf("one", "main")}/ns/net`, "ip", "route", "show", "default")).split(" ")[2]!;
      for (const from of ["one", "two"])
        for (const [to, port] of [["one", 18_080] as const, ["two", 18_081] as const])
          expect(await fetchedFrom(from, `http://${gateway}:${port}/name`)).toBe(`${to}\n\n`);
      const node = JSON.parse((await http(scene.socket, "GET", "/v1/node")).text);
      expect(node.ledger.ports.sort()).toEqual(["18080/tcp", "18081/tcp", "53/udp"]);
      await Promise.all(["one", "two"].map(remove));
      expect(await host.left()).toEqual([]);
      await expect(fetched("http://127.0.0.1:18080/name")).rejects.toThrow();
    },
    LONGEST_MS,
  );

  test("containers of one task share a network, whose names are those of the task; the file it is bound to is below the run directory", async () => {
    await host.daemon();
    const client =
      "i=0; until wget -q -O - http://localhost/name 2>/dev/null; do i=$((i+1)); [ $i -gt 200 ] && exit 9; sleep 0.05; done; " +
      "hostname; cat /etc/hosts /etc/hostname /etc/resolv.conf; ip -o link | cut -d: -f2; echo end; trap 'exit 0' TERM; sleep 1000 & wait $!";
    const dns = { servers: ["192.0.2.1"], search: ["example.org"], options: ["ndots:2"] };
    await apply("web", { dns }, [
      { name: "server", script: HTTPD },
      { name: "client", script: client, fields: { user: "65534:65534" } },
    ]);
    await running("web");
    await until(async () => /^end$/m.test(await printed("web", "client")));
    const said = await printed("web", "client");
    const address = (await taskOf(scene, "web")).addresses[0].split("/")[0];
    expect(said).toMatch(/^web\nweb\n127\.0\.0\.1\tlocalhost\n/);
    expect(said).toContain(`\n${address}\tweb\nweb\nnameserver 192.0.2.1\nsearch example.org\noptions ndots:2\n lo\n eth0`);
    const [server, other] = [pidOf("web", "server"), pidOf("web", "client")].map((pid) => namespaceOf(pid, "net"));
    expect(server).toBe(other);
    const mounts = readFileSync("/proc/self/mountinfo", "utf8");
    expect(mounts).toContain(` ${scene.directory}/run/networks/default.web.1 `);
    await remove("web");
  });

  test("none is loopback only; host is that of the host, where two tasks do not have one port", async () => {
    await host.daemon();
    await apply("alone", { mode: "none" }, [
      {
        name: "main",
        script:
          "ip -o link | cut -d: -f2; httpd -p 127.0.0.1:8000 -h /bin && wget -q -O /dev/null http://127.0.0.1:8000/busybox && echo up; trap 'exit 0' TERM; sleep 1000 & wait $!",
      },
    ]);
    await apply("open", { mode: "host" });
    await Promise.all(["alone", "open"].map(running));
    await until(async () => /up/.test(await printed("alone")));
    expect((await printed("alone")).split("\n").map((line) => line.trim())).toEqual(["lo", "up", ""]);
    expect(await host.on("readlink", "/proc/self/ns/net")).toBe(`${namespaceOf(pidOf("open", "main"), "net")}\n`);
    await Promise.all(["alone", "open"].map(remove));
    expect(await host.left()).toEqual([]);
  });

  test("T16: a task cannot reach the metadata address of clouds, which gives out secrets, unless it asks for it", async () => {
    await host.daemon();
    const script = "timeout 5 wget -q -O - http://169.254.169.254/ 2>&1; echo; trap 'exit 0' TERM; sleep 1000 & wait $!";
    await host.on("ip", "link", "add", "cloud", "type", "veth", "peer", "name", "cloud1");
    await host.on("ip", "addr", "add", "169.254.169.254/32", "dev", "cloud");
    await host.on("ip", "link", "set", "cloud", "up");
    await host.serve(
      process.execPath,
      "-e",
      "require('http').createServer((_, a) => a.end('secret')).listen(80, '169.254.169.254', () => console.log('up'))",
    );
    await apply("blind", {}, [{ name: "main", script }]);
    await apply("seeing", { metadata: true }, [{ name: "main", script }]);
    await until(async () => /\n/.test(await printed("blind").catch(() => "")) && /\n/.test(await printed("seeing").catch(() => "")));
    expect(await printed("seeing")).toContain("secret");
    expect(await printed("blind")).toMatch(/unreachable|Invalid argument/i);
    expect(await printed("blind")).not.toContain("secret");
    await Promise.all(["blind", "seeing"].map(remove));
  });

  test(
    "a port of the host that another program has: the task stops, and says which; one that another task has is waited for, or refused",
    async () => {
      const waiting = await host.daemon();
      const end = await host.serve(
        process.execPath,
        "-e",
        "require('net').createServer().listen(18090, '127.0.0.1', () => console.log('up'))",
      );
      await apply("late", { ports: [{ container: 80, host: 18_090 }] });
      expect(await stopped("late")).toContain("the port 18090/tcp of the host is taken by a program that is not of this engine: ");
      await remove("late");
      end();
      expect(await host.left()).toEqual([]);

      await apply("first", { ports: [{ container: 80, host: 18_091 }] });
      await running("first");
      await apply("second", { ports: [{ container: 8000, host: 18_091 }] });
      await until(async () => (await taskOf(scene, "second")).waiting?.[0]?.startsWith("port: 18091/tcp is taken by default.first"));
      await remove("first");
      await running("second");
      await waiting.kill();
      await host.daemon({ args: ["--port-taken", "refuse"] });
      await apply("third", { ports: [{ container: 80, host: 18_091 }] });
      expect(await stopped("third")).toContain("port: 18091/tcp is taken by default.second.");
      await Promise.all(["second", "third"].map(remove));
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );

  test(
    "T22: the namespace outlives the process that holds the others; E75: the process that holds the namespaces stays until the network is released",
    async () => {
      await host.daemon();
      await apply("held", { ports: [{ container: 80, host: 18_092 }] }, [{ name: "main", script: SLEEP }], {
        namespaces: { pid: "shared" },
      });
      await running("held");
      const pause = pidOf("held", "runtd-pause");
      expect(namespaceOf(pause, "net")).toBe(namespaceOf(pidOf("held", "main"), "net"));
      process.kill(pause, "SIGKILL");
      await stopped("held");
      await until(async () => (await host.left()).length === 0);
      await until(async () => (await taskOf(scene, "held")).addresses.length === 0);
      await remove("held");

      await apply("order", {}, [{ name: "main", script: SLEEP }], { namespaces: { pid: "shared" } });
      await running("order");
      await http(scene.socket, "POST", "/v1/tasks/order/stop");
      await stopped("order");
      const { text } = await http(scene.socket, "GET", "/v1/tasks/order/detail");
      expect(JSON.parse(text).resources).toContainEqual({ name: "network", known: "REMOVED" });
      const events = (await scene.ctl("events", "order")).stdout;
      expect(events.indexOf("network REMOVED")).toBeGreaterThan(0);
      expect(events.indexOf("network REMOVED")).toBeLessThan(events.lastIndexOf("runtd/pause"));
      await remove("order");
    },
    LONGEST_MS,
  );

  const BROKEN: readonly (readonly [row: string, plugin: string, script: string, reason: RegExp])[] = [
    [
      "a plugin that hangs, with all that it has started",
      "bridge",
      "[ $CNI_COMMAND = ADD ] || exec /usr/lib/cni/bridge; echo waiting >&2; sleep 1000 & wait",
      /bridge has not ended its ADD within 3000 ms; it has printed: waiting/,
    ],
    [
      "a plugin that answers with nothing",
      "bridge",
      "case $CNI_COMMAND in ADD) cat >/dev/null ;; *) exec /usr/lib/cni/bridge ;; esac",
      /bridge has returned an invalid result: it is empty/,
    ],
    [
      "a plugin whose answer is no JSON",
      "bridge",
      'case $CNI_COMMAND in ADD) echo "all is well" ;; *) exec /usr/lib/cni/bridge ;; esac',
      /bridge has returned an invalid result: it does not match the specification/,
    ],
    [
      "a plugin that gives no address",
      "bridge",
      `case $CNI_COMMAND in ADD) echo '{"cniVersion":"1.0.0"}' ;; *) exec /usr/lib/cni/bridge ;; esac`,
      /bridge has given no address to eth0/,
    ],
    ["a plugin that is not there", "bridge", "", /bridge is not installed .*: the package containernetworking-plugins has it/],
    [
      "a plugin fails its ADD, and the first DEL after it, too: it gets another one",
      "bridge",
      `case $CNI_COMMAND in
        ADD) echo '{"code": 7, "msg": "no"}'; echo because >&2; exit 1 ;;
        DEL) [ -e "$0.tried" ] || { : > "$0.tried"; echo '{"code": 8, "msg": "busy"}'; exit 1; } ;;
      esac; exec /usr/lib/cni/bridge`,
      /could not be removed: .*bridge has failed its ADD: no \(code 7\); it has printed: because; .*bridge has failed its DEL: busy \(code 8\)/,
    ],
  ];

  test.each(BROKEN)(
    "E65 E68 E69 T24: a network that cannot be made stops the task with the reason, and nothing is left (%s)",
    async (row, plugin, script, reason) => {
      const path = pluginsWith(scene, `plugins-${BROKEN.findIndex(([one]) => one === row)}`, { [plugin]: script });
      await host.daemon({ args: ["--cni-path", path, ...(row.includes("hangs") ? ["--network-timeout", "3s"] : [])] });
      await apply("broken", { ports: [{ container: 80, host: 18_093, protocol: "udp" }] });
      expect(await stopped("broken")).toMatch(reason);
      await until(async () => (await host.left()).length === 0);
      await remove("broken");
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );
});
