/** Tasks of one named network by their names, and a proxy that gets the connections of its task: by what programs in the containers see. */
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { program } from "../support/programs.ts";
import { FILTERS, taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, sharedIn, until, useEngine } from "./support.ts";
import { type ContainerText, taskText } from "./tasks.ts";

const WAIT = "trap 'exit 0' TERM; sleep 1000 & wait $!";
const serve = (address: string, word: string) =>
  `d=/dev/shm/${word} && mkdir -p $d && echo ${word} > $d/name && httpd -p ${address} -h $d && echo up`;

describe.skipIf(!isRoot || noNetworks !== undefined).each(FILTERS)(
  "names and proxies in networks of tasks, by %s (needs root and CNI plugins)",
  (filter) => {
    const scene = useEngine();
    const host = useNetworkHost(scene, filter);
    const text = (name: string, network: object, containers: readonly ContainerText[]) =>
      taskText(scene.rootfs(), name, containers, { network });
    const apply = async (texts: readonly string[], group = "default") => {
      const answer = await http(scene.socket, "POST", "/v1/apply", { text: texts.join("\n---\n"), group });
      expect(answer.text).toContain("created");
    };
    const printed = async (task: string, name = "main"): Promise<string> =>
      allPrinted((await taskOf(scene, task)).containers.find((one: { name: string }) => one.name === name).log);
    const remove = async (name: string, group = "default") => {
      await http(scene.socket, "DELETE", `/v1/tasks/${name}?group=${group}`);
      await until(async () => (await http(scene.socket, "GET", `/v1/tasks/${name}?group=${group}`)).status === 404);
    };

    test(
      "tasks of two groups find each other in a network of the whole host; nothing leads out of an internal one",
      async () => {
        await host.daemon();
        const shared = { name: "proxy", shared: true };
        const served = `${serve("80", "db")}; ${WAIT}`;
        await apply([text("db", { name: "back", internal: true, further: [shared] }, [{ name: "main", script: served }])], "one");
        const ask = `until wget -q -O - http://db/name 2>/dev/null; do sleep 0.1; done; ip route | grep -c default; ${WAIT}`;
        await apply([text("web", shared, [{ name: "main", script: ask }])], "two");
        const inner = `until wget -q -O - http://db/name 2>/dev/null; do sleep 0.1; done; ip route | grep -c default; ${WAIT}`;
        await apply([text("inner", { name: "back", internal: true }, [{ name: "main", script: inner }])], "one");
        const of = async (name: string, group: string) =>
          JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}?group=${group}`)).text).containers[0].log;
        await until(async () => allPrinted(await of("web", "two")) === "db\n1\n");
        await until(async () => allPrinted(await of("inner", "one")) === "db\n0\n");
        // The name of the group's own network is not that of the host's.
        await apply([text("stranger", { name: "proxy" }, [{ name: "main", script: `cat /etc/hosts; echo end; ${WAIT}` }])], "two");
        await until(async () => /end/.test(allPrinted(await of("stranger", "two"))));
        expect(allPrinted(await of("stranger", "two"))).not.toMatch(/\bdb\b/);
        for (const [name, group] of [
          ["db", "one"],
          ["inner", "one"],
          ["web", "two"],
          ["stranger", "two"],
        ] as const)
          await remove(name, group);
        expect(await host.left()).toEqual([]);
      },
      LONGEST_MS,
    );

    test(
      "tasks of a named network find each other by name while they run; the hosts file of a container that runs is kept current",
      async () => {
        const first = await host.daemon();
        const ask = `until wget -q -O - http://db/name 2>/dev/null; do sleep 0.1; done; while grep -q db /etc/hosts; do sleep 0.1; done; echo gone; ${WAIT}`;
        await apply([text("web", { name: "back" }, [{ name: "main", script: ask }])]);
        await until(async () => (await taskOf(scene, "web")).known === "RUNNING");
        await apply([
          text("db", { name: "back" }, [{ name: "main", script: `${serve("80", "db")}; ${WAIT}` }]),
          text("other", {}, [{ name: "main", script: `cat /etc/hosts; echo end; ${WAIT}` }]),
        ]);
        // Neither another network nor another group has this name.
        await apply([text("db", { name: "back" }, [{ name: "main", script: WAIT }])], "elsewhere");
        await until(async () => (await printed("web")) === "db\n");
        const addresses = new Set<string>();
        for (const name of ["web", "db", "other"]) addresses.add((await taskOf(scene, name)).addresses[0].split(".").slice(0, 3).join("."));
        expect(addresses.size).toBe(2);
        await until(async () => /end/.test(await printed("other")));
        expect(await printed("other")).not.toMatch(/db|web/);
        // The next daemon keeps them, too.
        await first.kill();
        await host.daemon();
        await remove("db");
        await until(async () => (await printed("web")) === "db\ngone\n");
        for (const name of ["web", "other"]) await remove(name);
        await remove("db", "elsewhere");
        expect(await host.left()).toEqual([]);
      },
      LONGEST_MS,
    );

    test(
      "T20: traffic of a container reaches the proxy, and traffic of the proxy reaches its target; T21: with a list of addresses, only traffic to these addresses reaches the proxy",
      async () => {
        await host.daemon();
        await apply([text("target", {}, [{ name: "main", script: `${serve("80", "target")}; ${WAIT}` }])]);
        await until(async () => (await taskOf(scene, "target")).known === "RUNNING");
        const address = (await taskOf(scene, "target")).addresses[0].split("/")[0];
        const fetch = (url: string) => `until wget -q -O - ${url} 2>/dev/null; do sleep 0.1; done`;
        const containers = (url: string): ContainerText[] => [
          { name: "proxy", script: `${serve("15001", "proxy")}; ${fetch(`http://${address}/name`)}; ${WAIT}`, fields: { user: "1337" } },
          { name: "app", script: `${fetch(url)}; ${fetch(`http://${address}/name`)}; ${WAIT}` },
        ];
        await apply([
          text("all", { proxy: { user: 1337, egress: { port: 15_001 } } }, containers("http://192.0.2.7/name")),
          text(
            "some",
            { proxy: { user: 1337, egress: { port: 15_001, addresses: ["127.255.0.0/16"] } } },
            containers("http://127.255.0.1/name"),
          ),
        ]);
        const said = async (task: string, name: string) => (await printed(task, name)).trim().split("\n");
        await until(async () => (await said("all", "app")).length === 2 && (await said("some", "app")).length === 2);
        expect(await said("all", "app")).toEqual(["proxy", "proxy"]);
        expect(await said("some", "app")).toEqual(["proxy", "target"]);
        for (const task of ["all", "some"]) {
          await until(async () => (await said(task, "proxy")).length === 2);
          expect(await said(task, "proxy")).toEqual(["up", "target"]);
        }
        for (const name of ["all", "some", "target"]) await remove(name);
        expect(await host.left()).toEqual([]);
      },
      LONGEST_MS,
    );

    test(
      "T23: traffic of a task to some addresses reaches the proxy of another task, which sees the original destination; without the proxy it is dropped",
      async () => {
        await host.daemon();
        copyFileSync(program("transparent"), join(scene.rootfs(), "transparent"));
        const script =
          "for n in 1 2 3; do until nc -w 2 192.0.2.7 8080 2>/dev/null | grep .; do sleep 0.1; done; while [ -e /shared/hold$n ]; do sleep 0.05; done; done";
        const shared = sharedIn(scene, "ways");
        for (const hold of ["hold1", "hold2"]) writeFileSync(join(shared.directory, hold), "");
        const mounts = [{ source: shared.directory, target: "/shared" }];
        const proxy = text("proxy", { name: "mesh", proxy: { user: 0, transparent: { port: 15_001, addresses: ["192.0.2.0/24"] } } }, [
          { name: "main", script: "exec /transparent 15001", fields: { capabilities: { add: ["CAP_NET_ADMIN"] }, stopSignal: "SIGKILL" } },
        ]);
        await apply([
          text("client", { name: "mesh", via: [{ task: "proxy", addresses: ["192.0.2.0/24"] }] }, [
            { name: "main", script: `${script}; ${WAIT}`, fields: { mounts } },
          ]),
        ]);
        await until(async () => (await taskOf(scene, "client")).known === "RUNNING");
        await apply([proxy]);
        await until(async () => (await printed("client")) === "192.0.2.7:8080\n");
        // Another one takes its place, at another address.
        await remove("proxy");
        rmSync(join(shared.directory, "hold1"));
        const namespace = join(scene.directory, "run/networks", (await taskOf(scene, "client")).id);
        const way = () => host.inside(namespace, "ip", "route", "get", "192.0.2.7").catch(String);
        await until(async () => /No route to host|unreachable/i.test(await way()));
        await apply([text("other", { name: "mesh" }, [{ name: "main", script: WAIT }]), proxy]);
        await until(async () => (await printed("client")) === "192.0.2.7:8080\n192.0.2.7:8080\n");
        rmSync(join(shared.directory, "hold2"));
        for (const name of ["client", "proxy", "other"]) await remove(name);
        expect(await host.left()).toEqual([]);
      },
      LONGEST_MS,
    );
  },
);
