/** Interfaces that somebody else provides: who has them is seen in the namespaces, and what becomes of their announcements in the journal. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { eventsOf, http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot || noNetworks !== undefined)("interfaces that others provide (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const list = async (): Promise<{ name: string; leftMs: number | null; task: string | null }[]> =>
    JSON.parse((await http(scene.socket, "GET", "/v1/interfaces")).text).interfaces;
  const told = async () =>
    (await eventsOf(scene.socket, 0)).flatMap(({ data }) =>
      data["type"] === "interface" ? [`${data["interface"]} ${data["state"]}`] : [],
    );
  const apply = (name: string) => {
    const interfaces = [{ association: "attached", parent: "vf0", addresses: ["192.0.2.9/24"], mac: "02:00:00:00:00:09" }];
    return http(scene.socket, "POST", "/v1/apply", {
      text: taskText(scene.rootfs(), name, [{ name: "main" }], { network: { mode: "isolated", interfaces } }),
    });
  };
  const links = (...inside: string[]) => host.on(...inside, "ip", "-o", "link");

  test("E18: an interface that no task takes in two seconds is forgotten, with an event; so is one whose deadline passes without a daemon, or at a reboot", async () => {
    const first = await host.daemon();
    expect((await scene.ctl("interfaces", "attach", "eth7", "--for", "2s")).stdout).toBe("eth7 attached\n");
    expect(await list()).toMatchObject([{ name: "eth7", task: null }]);
    expect((await scene.ctl("interfaces")).stdout).toMatch(/^INTERFACE +WAITS +TASK\neth7 +\d/);
    await until(async () => (await list()).length === 0);
    expect(await told()).toEqual(["eth7 pending", "eth7 expired"]);
    const asked = (await eventsOf(scene.socket, 0)).flatMap(({ data }) => (data["type"] === "interface" ? [data["by"]] : []));
    expect(asked).toEqual([{ uid: 0, pid: expect.any(Number) }, undefined]);
    await scene.ctl("interfaces", "attach", "eth8", "--for", "2s");
    await scene.ctl("interfaces", "attach", "eth9", "--for", "1h");
    await first.kill();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const second = await host.daemon();
    await until(async () => (await told()).includes("eth8 expired"));
    expect(await list()).toMatchObject([{ name: "eth9", task: null }]);
    expect((await list())[0]!.leftMs).toBeLessThan(3_600_000);
    await second.kill();
    await host.daemon({ bootId: randomUUID() });
    await until(async () => (await list()).length === 0);
    expect((await told()).at(-1)).toBe("eth9 expired");
    const refused = await scene.ctl("interfaces", "detach", "eth9");
    expect(refused.stderr).toContain("the interface eth9 is not attached");
  });

  test(
    "E18: a task takes the interface exclusively and gives it back; an interface that is not announced is an error that names it",
    async () => {
      const first = await host.daemon();
      await host.on("ip", "link", "add", "vf0", "type", "veth", "peer", "name", "far0");
      await apply("early");
      await until(async () => (await taskOf(scene, "early")).known === "STOPPED");
      expect((await taskOf(scene, "early")).reason).toContain("the interface vf0 was not announced");
      await scene.ctl("interfaces", "attach", "vf0", "--for", "3s");
      await apply("t");
      await until(async () => (await taskOf(scene, "t")).known === "RUNNING", LONGEST_MS);
      const { id } = await taskOf(scene, "t");
      expect(await list()).toMatchObject([{ name: "vf0", leftMs: null, task: id }]);
      expect(await links()).not.toContain("vf0");
      const { pid } = scene.list().find((one) => one.id.startsWith(`${id}.`))!;
      expect(await links("nsenter", `--net=/proc/${pid}/ns/net`)).toMatch(/eth0@.*02:00:00:00:00:09/);
      await apply("second");
      await until(async () => (await taskOf(scene, "second")).known === "STOPPED");
      expect((await taskOf(scene, "second")).reason).toContain(`the interface vf0 is used by task ${id}`);
      expect((await scene.ctl("interfaces", "detach", "vf0")).stderr).toContain(`is used by task ${id}`);
      // It stays the task's, however long ago its time has ended.
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await first.kill();
      await host.daemon();
      expect(await list()).toMatchObject([{ name: "vf0", task: id }]);
      for (const name of ["early", "second", "t"]) expect((await scene.ctl("delete", name)).status).toBe(0);
      await until(async () => (await list()).length === 0);
      expect(await links()).toMatch(/ vf0@/);
      expect(await told()).toEqual(["vf0 pending", "vf0 used", "vf0 released"]);
      await until(async () => (await host.left()).every((name) => ["vf0", "far0"].includes(name)));
    },
    LONGEST_MS,
  );
});
