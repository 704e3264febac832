/** SIGKILL of the daemon in the middle of networks of tasks, aimed at every step of making and of giving back: afterwards all is there once, or nothing is left. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FILTERS, pluginsWith, taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { type Daemon, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

/** RUNT_ENGINE_NETWORKS=50: the long form. */
const TASKS = Number(process.env["RUNT_ENGINE_NETWORKS"] ?? 10);

/** Each step in which a plugin or the program for rules is called, before and after it has done its work. */
const STEPS = ["bridge ADD", "rules ADD", "rules DEL", "bridge DEL"].flatMap((step) => [`before ${step}`, `after ${step}`]);

const FEW = 3;
const LAST_STEPS = ["link delete DEL", "--lazy DEL"].flatMap((step) => [`before ${step}`, `after ${step}`]);

describe.skipIf(!isRoot || noNetworks !== undefined).each(FILTERS)(
  "a daemon that is killed while it makes networks, by %s (needs root and CNI plugins)",
  (filter) => {
    const scene = useEngine();
    const host = useNetworkHost(scene, filter);
    const isUdp = (index: number) => index % 3 !== 1;
    const texts = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        taskText(scene.rootfs(), `n${index}`, [{ name: "main", script: "exec sleep 1000", fields: { stopSignal: "SIGKILL" } }], {
          network: { ports: [{ container: 80, host: 20_000 + index, protocol: isUdp(index) ? "udp" : "tcp" }] },
        }),
      ).join("\n---\n");
    const apply = (text: string) => http(scene.socket, "POST", "/v1/apply", { text });
    const names = async (): Promise<{ name: string; known: string; addresses: string[] }[]> =>
      JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks;
    const allRun = (count: number) =>
      until(async () => {
        const tasks = await names();
        return tasks.length === count && tasks.every(({ known }) => known === "RUNNING");
      }, LONGEST_MS);
    const removeAll = async () => {
      for (const { name } of await names()) await http(scene.socket, "DELETE", `/v1/tasks/${name}`);
    };
    const allGone = () => until(async () => (await names()).length === 0, LONGEST_MS);

    /** Plugins that wait at one step, once: `reached` says that one does. */
    const waiting = (name: string) => {
      const gate = join(scene.directory, `gate-${name}`);
      mkdirSync(gate, { recursive: true });
      const wait = (when: string, plugin: string, verb = "$CNI_COMMAND") =>
        `if [ "$(cat ${gate}/aim 2>/dev/null)" = "${when} ${plugin} ${verb}" ] && rm ${gate}/aim 2>/dev/null; then : > ${gate}/reached; sleep 1000; fi`;
      const script = (plugin: string) => `${wait("before", plugin)}\n/usr/lib/cni/${plugin} || exit\n${wait("after", plugin)}`;
      const path = pluginsWith(scene, `plugins-${name}`, { bridge: script("bridge") });
      const programs = join(scene.directory, `programs-${name}`);
      mkdirSync(programs);
      const [program, added] = filter === "nft" ? ["nft", "^add element"] : ["iptables-restore", "^-[AI] "];
      const verb = `$(grep -q '${added}' $f && echo ADD || echo DEL)`;
      const rules = [
        `case "$*" in "-f -"|"--noflush "*) ;; *) exec /usr/sbin/${program} "$@" ;; esac`,
        `f=$(mktemp -p ${gate} rules.XXXXXX); trap 'rm -f $f' EXIT; cat > $f`,
        ...[wait("before", "rules", verb), `/usr/sbin/${program} "$@" < $f || exit`, wait("after", "rules", verb)],
      ];
      const deleting = (program: string, words: string) => [
        `case "$*" in "${words} "*) ;; *) exec ${program} "$@" ;; esac`,
        ...[wait("before", words, "DEL"), `${program} "$@" || exit`, wait("after", words, "DEL")],
      ];
      const put = (name: string, lines: readonly string[]) =>
        writeFileSync(join(programs, name), ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
      put(program!, rules);
      put("ip", deleting("/usr/sbin/ip", "link delete"));
      put("umount", deleting("/usr/bin/umount", "--lazy"));
      return {
        path,
        env: { PATH: `${programs}:${process.env["PATH"]}` },
        /** The plugins wait at this step, and at no other. */
        aim(step: string) {
          rmSync(join(gate, "reached"), { force: true });
          writeFileSync(join(gate, "aim"), step);
        },
        reached: () => until(() => existsSync(join(gate, "reached")), LONGEST_MS),
      };
    };

    test(
      `E71 E72: ${TASKS} bridge tasks up and down, the daemon killed at each step of a plugin: each lease is given back once, and nothing is left`,
      async () => {
        const plugins = waiting("aimed");
        const args = ["--cni-path", plugins.path];
        const { env } = plugins;
        let daemon: Daemon | undefined;
        for (const step of STEPS.filter((one) => one.endsWith("ADD"))) {
          plugins.aim(step);
          if (daemon === undefined) {
            daemon = await host.daemon({ args, env });
            expect((await apply(texts(TASKS))).text).toContain("created");
          } else {
            daemon = await host.daemon({ args, env });
            // The aim is a network that is made while this daemon lives.
            await http(scene.socket, "POST", "/v1/tasks/n0/stop");
            await until(async () => (await taskOf(scene, "n0")).known === "STOPPED" && (await taskOf(scene, "n0")).addresses.length === 0);
            await apply(texts(TASKS));
          }
          await plugins.reached();
          await daemon.kill();
        }
        daemon = await host.daemon({ args, env });
        await allRun(TASKS);
        const addresses = (await names()).flatMap((one) => one.addresses);
        expect(new Set(addresses).size).toBe(TASKS);
        expect(leases().sort()).toEqual(addresses.map((one) => one.split("/")[0]!).sort());

        for (const step of STEPS.filter((one) => one.endsWith("DEL"))) {
          plugins.aim(step);
          const first = (await names()).find(({ name }) => isUdp(Number(name.slice(1))));
          expect((await http(scene.socket, "DELETE", `/v1/tasks/${first!.name}`)).status).toBe(202);
          await plugins.reached();
          await daemon.kill();
          daemon = await host.daemon({ args, env });
          await until(async () => (await names()).every(({ name }) => name !== first!.name), LONGEST_MS);
        }
        await removeAll();
        await allGone();
        expect(await host.left()).toEqual([]);

        // All leave, so that the bridge goes, too.
        for (const step of LAST_STEPS) {
          await apply(texts(FEW));
          await allRun(FEW);
          plugins.aim(step);
          await removeAll();
          await plugins.reached();
          await daemon.kill();
          daemon = await host.daemon({ args, env });
          await allGone();
          expect(await host.left()).toEqual([]);
        }
      },
      10 * LONGEST_MS,
    );

    const leases = () => {
      const [network = ""] = readdirSync(join(scene.stateDir, "network/leases"));
      return readdirSync(join(scene.stateDir, "network/leases", network)).filter((name) => /^\d+\.\d+\.\d+\.\d+$/.test(name));
    };

    test(
      "what no task has is removed when the daemon starts; what runs stays as it is, and what is wrong with it is told",
      async () => {
        const args = ["--network-check", "200ms"];
        const first = await host.daemon({ args });
        expect((await apply(texts(2))).text).toContain("created");
        await allRun(2);
        await first.kill();
        const before = (await names().catch(() => undefined)) ?? [];
        expect(before).toEqual([]);
        // Of tasks that the store does not have: a lease, a namespace, a rule, an attachment.
        const [network = ""] = readdirSync(join(scene.stateDir, "network/leases"));
        writeFileSync(join(scene.stateDir, "network/leases", network, "10.64.0.77"), "default.gone.77\r\neth0");
        const stray = join(scene.directory, "run/networks/default.gone.77");
        writeFileSync(stray, "");
        await host.on("unshare", `--net=${stray}`, "true");
        const comment = `name: "${network}" id: "default.gone.77"`;
        await host.on(
          "iptables",
          "-t",
          "nat",
          "-A",
          "POSTROUTING",
          "-s",
          "10.64.0.77",
          "-m",
          "comment",
          "--comment",
          comment,
          "-j",
          "ACCEPT",
        );
        if (filter === "nft") {
          const table = /^table (ip runt-\S+)/m.exec((await host.rules()).join("\n"))![1];
          await host.on("sh", "-c", `nft add element ${table} published '{ 10.64.0.77 comment "runt: default.gone.77" }'`);
        }
        const attachments = join(scene.stateDir, "network/attachments");
        const [one] = readdirSync(attachments);
        const attached = JSON.parse(readFileSync(join(attachments, one!), "utf8"));
        writeFileSync(
          join(attachments, "default.gone.78.json"),
          JSON.stringify({ ...attached, containerId: "default.gone.78", namespace: `${stray}8`, results: null }),
        );

        writeFileSync(join(attachments, "default.gone.79.json"), "{");

        const daemon = await host.daemon({ args });
        await allRun(2);
        expect((await host.left()).filter((line) => line.includes("gone"))).toEqual([]);
        expect(leases().length).toBe(2);
        const conditions = async () => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text).conditions;
        await new Promise((resolve) => setTimeout(resolve, 500));
        expect(await conditions()).toEqual([]);
        // Somebody takes an address of a task away.
        const { addresses } = await taskOf(scene, "n0");
        const namespace = join(scene.directory, "run/networks", (await taskOf(scene, "n0")).id);
        await host.inside(namespace, "ip", "address", "del", addresses[0], "dev", "eth0");
        await until(async () =>
          (await conditions()).some(
            ({ type, message }: Record<string, string>) => type === "NetworkBroken" && message!.startsWith("default.n0."),
          ),
        );
        await removeAll();
        await allGone();
        expect(await host.left()).toEqual([]);
        await until(async () => (await conditions()).length === 0);
        await daemon.kill();
      },
      LONGEST_MS,
    );
  },
);
