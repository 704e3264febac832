/** Networks of tasks when the host has booted anew: what was of the old boot is given back from the store, and what is to run is made anew. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { cutPower } from "./power.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

const ANOTHER_BOOT = "11111111-2222-4333-8444-555555555555";

describe.skipIf(!isRoot || noNetworks !== undefined)("networks after another boot of the host (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const text = (name: string, port: number, start: string) =>
    taskText(scene.rootfs(), name, [{ name: "main", script: "exec sleep 1000", fields: { stopSignal: "SIGKILL" } }], {
      start,
      network: { ports: [{ container: 80, host: port }] },
    });

  test(
    "E72: address leases from before a reboot are released once, and a task that starts always gets a network again",
    async () => {
      const first = await host.daemon();
      await http(scene.socket, "POST", "/v1/apply", {
        text: [text("keep", 18_100, "always"), text("once", 18_101, "once")].join("\n---\n"),
      });
      const isUp = async (name: string) => (await taskOf(scene, name)).known === "RUNNING";
      await until(async () => (await isUp("keep")) && (await isUp("once")));
      await first.kill();
      await cutPower(scene);
      host.boot();

      await host.daemon({ bootId: ANOTHER_BOOT });
      await until(async () => (await isUp("keep")) && (await taskOf(scene, "once")).known === "STOPPED");
      const { addresses } = await taskOf(scene, "keep");
      const [network = ""] = readdirSync(join(scene.stateDir, "network/leases"));
      const leases = () => readdirSync(join(scene.stateDir, "network/leases", network)).filter((name) => /^\d+\.\d+\.\d+\.\d+$/.test(name));
      await until(() => leases().length === 1);
      expect(leases()).toEqual([addresses[0].split("/")[0]]);
      const rules = String(await host.rules());
      expect(rules).toContain("tcp . 18100 ");
      expect(rules).not.toContain("tcp . 18101 ");
      for (const name of ["keep", "once"]) await http(scene.socket, "DELETE", `/v1/tasks/${name}`);
      await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks.length === 0);
      expect(await host.left()).toEqual([]);
    },
    LONGEST_MS,
  );
});
