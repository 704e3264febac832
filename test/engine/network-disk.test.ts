/** A disk that is full while the network of a task is made: the task says so, nothing of it is left, what runs goes on, and with room it is made. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { namesBelow } from "./names-below.ts";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

describe.skipIf(!isRoot || noNetworks !== undefined)("a full disk for networks (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const apply = async (name: string, port: number) => {
    const text = taskText(scene.rootfs(), name, [{ name: "main", script: SLEEP, fields: { stopSignal: "SIGKILL" } }], {
      network: { ports: [{ container: 80, host: port }] },
    });
    return http(scene.socket, "POST", "/v1/apply", { text });
  };
  const known = async (name: string, status: string) => until(async () => (await taskOf(scene, name)).known === status, LONGEST_MS);

  test.each([
    ["attachments", "what is to be undone"],
    ["leases", "the lease of its address, which the plugin writes"],
    ["files", "its hosts file"],
  ])(
    "E69: a full disk stops the task with the reason, and nothing of its network is left; with room it runs (%s, %s)",
    async (place) => {
      const directory = join(scene.stateDir, "network", place);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      // One page for each file.
      const daemon = await host.daemon({ before: `mount -t tmpfs -o size=128k,mode=0700 tmpfs ${directory}` });
      const seen = join(`/proc/${daemon.pid}/root${directory}`);
      const filler = join(seen, "filler");
      const fill = () => {
        try {
          for (;;) writeFileSync(filler, Buffer.alloc(4096, 120), { flag: "a" });
        } catch {}
      };
      const there = () => namesBelow(seen).filter((name) => !/filler|lock|last_reserved/.test(name));
      const traces = async () => [...(await host.left()), ...there()].sort();
      await apply("early", 18_100);
      await known("early", "RUNNING");
      const before = await traces();
      expect(before).not.toEqual([]);

      fill();
      expect((await apply("late", 18_101)).text).toContain("created");
      await known("late", "STOPPED");
      expect((await taskOf(scene, "late")).reason).toMatch(/the resource network could not be created: .*no space left on device/i);
      await until(async () => (await traces()).join() === before.join());
      expect((await taskOf(scene, "early")).known).toBe("RUNNING");
      rmSync(filler);
      expect((await apply("late", 18_101)).status).toBe(200);
      await known("late", "RUNNING");
      expect((await taskOf(scene, "late")).addresses).toHaveLength(1);
      for (const name of ["early", "late"]) expect((await scene.ctl("delete", name)).status).toBe(0);
      expect((await traces()).filter((name) => !name.startsWith("runtd-"))).toEqual([]);
    },
    LONGEST_MS,
  );
});
