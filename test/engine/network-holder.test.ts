/** What holds the namespaces of a task starts while the network is made: what comes of it when the network fails, or the daemon is killed in between. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { namespaceOf } from "./kernel-files.ts";
import { pluginsWith, taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, identityOf, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

describe.skipIf(!isRoot || noNetworks !== undefined)("what holds namespaces beside a network (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const gate = () => join(scene.directory, "gate");
  /** The plugin waits until the gate is open, not longer than there is this test, and then does what the script says. */
  const waiting = (name: string, then: string) => {
    const wait = `while [ -d ${scene.directory} ] && [ ! -e ${gate()} ]; do sleep 0.05; done`;
    return pluginsWith(scene, name, { bridge: `[ $CNI_COMMAND = ADD ] || exec /usr/lib/cni/bridge\n${wait}\n${then}` });
  };
  const apply = async () => {
    const text = taskText(scene.rootfs(), "t", [{ name: "main", script: SLEEP, fields: { stopSignal: "SIGKILL" } }], {
      network: { ports: [{ container: 80, host: 18_099 }] },
      namespaces: { pid: "shared" },
    });
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).status).toBe(200);
  };
  const pidOf = (name: string) => scene.list().find(({ id, status }) => id.includes(`.${name}`) && status === "running")?.pid;
  const holder = () => pidOf("runtd-pause");
  const isTold = async () =>
    (await taskOf(scene, "t")).containers.find(({ name }: { readonly name: string }) => name === "runtd/pause")?.known === "RUNNING";
  const remove = async () => {
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    expect(await host.left()).toEqual([]);
    expect(scene.list()).toEqual([]);
  };
  const begin = () => rmSync(gate(), { force: true });

  test(
    "E95: the process that holds the namespaces runs before the network exists, and is in it afterwards, even if the daemon was killed in between",
    async () => {
      for (const isKilled of [false, true]) {
        begin();
        const options = { args: ["--cni-path", waiting(`plugins-${isKilled}`, "exec /usr/lib/cni/bridge")] };
        const daemon = await host.daemon(options);
        await apply();
        await until(() => holder() !== undefined);
        const before = identityOf(holder()!);
        expect(pidOf("main-")).toBeUndefined();
        expect((await taskOf(scene, "t")).addresses).toEqual([]);
        if (isKilled) {
          await daemon.kill();
          await host.daemon(options);
          await until(isTold);
        }
        writeFileSync(gate(), "");
        await until(async () => (await taskOf(scene, "t")).known === "RUNNING");
        expect(identityOf(holder()!)).toBe(before);
        expect(namespaceOf(pidOf("main-")!, "net")).toBe(namespaceOf(holder()!, "net"));
        const [address] = (await taskOf(scene, "t")).addresses;
        const inside = await host.inside(`/proc/${holder()}/ns/net`, "ip", "-o", "address");
        expect(inside).toContain(address!.split("/")[0]);
        // Nothing can be reached that must not be, by whichever attempt it was prepared.
        expect(await host.inside(`/proc/${holder()}/ns/net`, "ip", "route")).toContain("blackhole 169.254.169.254");
        await remove();
        await (isKilled ? Promise.resolve() : daemon.kill());
      }
    },
    LONGEST_MS,
  );

  test(
    "E95: the process that holds the namespaces ends with its task when the network cannot be made, and nothing is left",
    async () => {
      begin();
      await host.daemon({ args: ["--cni-path", waiting("plugins-fail", "echo no >&2; exit 1")] });
      await apply();
      await until(() => holder() !== undefined);
      writeFileSync(gate(), "");
      await until(async () => (await taskOf(scene, "t")).known === "STOPPED");
      expect((await taskOf(scene, "t")).reason).toMatch(
        /the resource network could not be created: the network plugin bridge has failed its ADD/,
      );
      expect([pidOf("main-"), holder()]).toEqual([undefined, undefined]);
      await remove();
    },
    LONGEST_MS,
  );

  test(
    "E95: a task that is deleted while its network is made releases it, and the holder of the namespaces ends last",
    async () => {
      begin();
      await host.daemon({ args: ["--cni-path", waiting("plugins-delete", "exec /usr/lib/cni/bridge")] });
      await apply();
      await until(() => holder() !== undefined);
      const deleted = scene.ctl("delete", "t");
      await until(async () => (await taskOf(scene, "t")).desired === "STOPPED");
      expect(holder()).toBeDefined();
      writeFileSync(gate(), "");
      expect((await deleted).status).toBe(0);
      expect([await host.left(), scene.list()]).toEqual([[], []]);
      expect(existsSync(join(scene.stateDir, "network/files", "t"))).toBe(false);
    },
    LONGEST_MS,
  );
});
