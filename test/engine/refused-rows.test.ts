/** What is refused before anything of it is begun, and names that only look as if they had to be: cgroups, namespaces and directories are looked at, not answers only. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TaskView } from "../../src/engine/index.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { DAMAGES } from "./damage.ts";
import { cgroupsNamed } from "./kernel-files.ts";
import { namesBelow } from "./names-below.ts";
import { taskOf, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("what is refused before it is begun (needs root)", () => {
  const scene = useEngine();
  const apply = async (...texts: readonly string[]) => http(scene.socket, "POST", "/v1/apply", { text: texts.join("\n---\n") });
  const findings = async (...texts: readonly string[]): Promise<string[]> => {
    const { status, text } = await apply(...texts);
    expect([status, text]).toEqual([422, expect.any(String)]);
    return (JSON.parse(text).findings as { pointer: string; message: string }[]).map(({ pointer, message }) => `${pointer}: ${message}`);
  };
  /** Everything that a task could have begun. The store itself is written all the time. */
  const traces = () => [
    ...cgroupsNamed(CGROUP_PARENT.slice(1)),
    ...namesBelow(scene.stateDir).filter((path) => !path.startsWith("engine.db")),
    ...namesBelow(join(scene.directory, "run")),
    ...scene.list().map(({ id }) => id),
  ];

  test("E9 E56 E67 T14: unsupported fields of other systems are refused by name, and nothing is started; E33: containers and tasks that wait for each other are refused, with the cycle; T3: a name that would be part of a path is refused; T15: interfaces in another mode are refused; T18: a task cannot have an unknown association", async () => {
    await scene.daemon();
    const text = (name: string, fields: object = {}, container: object = {}) =>
      taskText(scene.rootfs(), name, [{ name: "a", fields: { ...container } }], { ...fields });
    const before = traces();
    const foreign = { proxyConfiguration: { type: "APPMESH" }, volumes: [{ name: "v", fsxWindowsFileServerVolumeConfiguration: {} }] };
    expect(await findings(text("t", foreign, { credentialSpecs: ["x"], cniSetup: "x" }), text("good"))).toEqual([
      '/proxyConfiguration: the field "proxyConfiguration" is not supported',
      '/volumes/0/fsxWindowsFileServerVolumeConfiguration: the field "fsxWindowsFileServerVolumeConfiguration" is not supported',
      '/containers/0/credentialSpecs: the field "credentialSpecs" is not supported',
      '/containers/0/cniSetup: the field "cniSetup" is not supported',
    ]);
    const circle = taskText(scene.rootfs(), "t", [
      { name: "A", fields: { dependsOn: [{ container: "B" }] } },
      { name: "B", fields: { dependsOn: [{ container: "A" }] } },
    ]);
    expect(await findings(circle, text("good"))).toEqual([expect.stringContaining("containers wait for each other: A -> B -> A")]);
    const [x, y] = [text("x", {}, { dependsOn: [{ container: "y/a" }] }), text("y", {}, { dependsOn: [{ container: "x/a" }] })];
    expect(await findings(x, y)).toEqual([expect.stringContaining("containers wait for each other: x/a -> y/a -> x/a")]);
    for (const name of ["", "a/../b", "..", "x".repeat(300)])
      expect(await findings(text(name))).toEqual([expect.stringMatching(/^\/name: /)]);
    const interfaces = [{ association: "default", parent: "eth0", addresses: ["192.0.2.2/24"], mac: "02:00:00:00:00:01" }];
    expect(await findings(text("t", { network: { mode: "host", interfaces } }))).toEqual([
      "/network/interfaces: interfaces need the mode isolated, and the network's is host",
    ]);
    const unknown = interfaces.map((one) => ({ ...one, association: "foo" }));
    expect(await findings(text("t", { network: { mode: "isolated", interfaces: unknown } }))).toEqual([
      "/network/interfaces/0/association: there is no association foo: use default, vlan or attached",
    ]);
    expect(traces()).toEqual(before);
    expect(JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks).toEqual([]);
  });

  test("E60 with any name, each container has a unique id that is a valid name everywhere; the id ends with the task", async () => {
    const first = await scene.daemon();
    const names = ["a b", "ä🚀", "..", "-", "__proto__", "a.b", "a-b", "x".repeat(255)];
    const text = taskText(
      scene.rootfs(),
      "t",
      names.map((name) => ({ name })),
    );
    expect((await apply(text)).text).toContain("created");
    const get = async (): Promise<TaskView> => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
    await until(async () => (await get()).known === "RUNNING", LONGEST_MS);
    const view = await get();
    expect(view.containers.map(({ name }) => name)).toEqual(names);
    const ids = scene.list().map(({ id }) => id);
    expect(new Set(ids).size).toBe(names.length);
    expect(ids.filter((id) => !/^[A-Za-z0-9][\w.+-]{0,199}$/.test(id) || id.includes(".."))).toEqual([]);
    await first.kill();
    await scene.daemon();
    expect(await get()).toEqual(view);
    expect(await scene.ctl("delete", "t")).toMatchObject({ status: 0 });
    expect([scene.list(), namesBelow(join(scene.stateDir, "logs"))]).toEqual([[], []]);
  });

  describe.skipIf(noNetworks !== undefined)("with networks (needs CNI plugins)", () => {
    const host = useNetworkHost(scene);

    test(
      "E73 a port of one host address answers only there, and a task without a network has only loopback; if the network records are lost, the port still answers, and everything is removed with the task",
      async () => {
        const first = await host.daemon();
        const script = "mkdir /tmp/d && echo web > /tmp/d/name && exec httpd -f -p 80 -h /tmp/d";
        const network = { ports: [{ container: 80, host: 18_090, address: "127.0.0.1" }] };
        await apply(
          taskText(scene.rootfs(), "web", [{ name: "main", script }], { network }),
          taskText(scene.rootfs(), "none", [{ name: "main" }], { network: { mode: "none" } }),
        );
        for (const name of ["web", "none"]) await until(async () => (await taskOf(scene, name)).known === "RUNNING", LONGEST_MS);
        const pid = (task: string) => scene.list().find(({ id }) => id.startsWith(`default.${task}.`) && id.includes(".main-"))!.pid;
        const fetched = (address: string) =>
          host.on(process.execPath, "-e", "fetch(process.argv[1]).then((a) => a.text()).then(console.log)", `http://${address}:18090/name`);
        await until(() =>
          fetched("127.0.0.1").then(
            (answer) => answer === "web\n\n",
            () => false,
          ),
        );
        const gateway = (await host.inside(`/proc/${pid("web")}/ns/net`, "ip", "route", "show", "default")).split(" ")[2]!;
        await expect(fetched(gateway)).rejects.toThrow();
        expect(await host.inside(`/proc/${pid("none")}/ns/net`, "ip", "-o", "link")).toMatch(/^1: lo: [^\n]*\n$/);
        await first.kill();
        rmSync(join(scene.stateDir, "network/attachments"), { recursive: true });
        DAMAGES["cut off"]!(join(scene.stateDir, "network/networks/default.json"));
        await host.daemon();
        // It runs, and keeps its address: nobody else gets it.
        expect(await fetched("127.0.0.1")).toBe("web\n\n");
        expect(String(await host.rules())).toMatch(/saddr 127\.0\.0\.0\/8 drop/);
        expect(await scene.ctl("delete", "web", "none")).toMatchObject({ status: 0 });
        expect(await host.left()).toEqual([]);
        expect(await host.rules()).toEqual([]);
      },
      LONGEST_MS,
    );
  });
});
