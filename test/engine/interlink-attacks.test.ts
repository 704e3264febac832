/** What a cluster may try to get a privileged container on this host, through interLink's door. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { baseLayer, writeLayout } from "./image-files.ts";
import { statusOf } from "./kernel-files.ts";
import { raw, requestOf } from "./raw-http.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
const UID = "8e4a3c52-7b1e-4c8e-9a53-0d8a0f6f1a02";
const TRUE = { securityContext: { privileged: true } };

describe.skipIf(!isRoot || !HAS_PROGRAMS)("pods of a cluster that want to be privileged (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const daemon = () => {
    writeLayout(join(scene.directory, "names/app"), { layers: [baseLayer()], tag: "v1" });
    vi.stubEnv("RUNT_IMAGES", `oci:${scene.directory}/names`);
    return scene.daemon({ args: ["--interlink", "--interlink-network", "none"] });
  };
  const metadata = { name: "job", namespace: "team", uid: UID };
  const main = { name: "main", image: "app:v1", command: ["/bin/sh", "-c", SLEEP], imagePullPolicy: "IfNotPresent" };
  const other = { ...main, name: "other" };
  const podOf = (spec: object, more: object = {}) => ({ metadata: { ...metadata, ...more }, spec: { restartPolicy: "Never", ...spec } });
  const send = async (body: unknown) => {
    const { status, text } = await raw(join(scene.directory, "run/interlink.sock"), requestOf("POST", "/create", body));
    return { status, text };
  };
  const create = (pod: unknown, configMaps: readonly object[] = []) => send({ pod, container: [{ name: "main", configMaps }] });
  const tasks = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text);

  test.each<[string, object]>([
    ["a container", { containers: [main, { ...other, ...TRUE }] }],
    ["an init container", { containers: [main], initContainers: [{ ...other, ...TRUE }] }],
    ["a sidecar", { containers: [main], initContainers: [{ ...other, ...TRUE, restartPolicy: "Always" }] }],
    ["a container for debugging", { containers: [main], ephemeralContainers: [{ ...other, ...TRUE }] }],
    ["the pod itself", { containers: [main], ...TRUE }],
    ["a container, in the words of a task file", { containers: [{ ...main, privileged: true }] }],
    ["a pod of a Deployment", { replicas: 1, template: podOf({ containers: [{ ...main, ...TRUE }] }) }],
  ])("%s is refused by name", async (_, spec) => {
    await daemon();
    const { status, text } = await create(podOf(spec));
    expect([status, text]).toEqual([422, expect.stringMatching(/privileged|ephemeralContainers|template/)]);
    expect([scene.list(), await tasks()]).toEqual([[], expect.objectContaining({ tasks: [] })]);
  });

  test("neither a task file nor a Compose file nor a second document passes for a pod", async () => {
    await daemon();
    const task = { name: "t", containers: [{ name: "a", rootfs: "/", command: "/bin/sh", privileged: true }] };
    const services = { a: { "x-runt-rootfs": "/", command: "sh", privileged: true } };
    const harmless = { containers: [main] };
    const privileged = { ...podOf({ containers: [{ ...main, ...TRUE }] }), apiVersion: "v1", kind: "Pod" };
    const attempts = [
      create(task),
      create({ ...task, metadata }),
      create({ services }),
      create({ ...podOf({ services }), services }),
      create({ apiVersion: "v1", kind: "List", metadata, items: [privileged] }),
      create(podOf({ ...harmless, items: [privileged] })),
      create(podOf(harmless), [privileged]),
      create(podOf(harmless), [{ metadata: { name: "m", namespace: "team" }, kind: "List", items: [privileged] }]),
      send([{ pod: privileged }]),
    ];
    for (const { status, text } of await Promise.all(attempts)) expect([status, text]).toEqual([422, expect.stringContaining("detail")]);
    expect([scene.list(), await tasks()]).toEqual([[], expect.objectContaining({ tasks: [] })]);
  });

  test("a value that is no truth, a key that comes twice and a prototype are not taken for one", async () => {
    await daemon();
    const written = (context: string) =>
      JSON.stringify({ pod: podOf({ containers: [{ ...main, securityContext: "HERE" }] }), container: [] }).replace('"HERE"', context);
    for (const value of ['"true"', "1", "[true]", '{"value":true}']) {
      const { status, text } = await send(written(`{"privileged":${value}}`));
      expect([value, status, text]).toEqual([value, 422, expect.stringContaining("privileged")]);
    }
    for (const context of [
      '{"privileged":false,"privileged":true}',
      '{"Privileged":true}',
      '{"\\u0070rivileged":true}',
      '{"__proto__":{"privileged":true}}',
    ])
      expect([context, (await send(written(context))).status]).toEqual([context, 422]);
    expect(scene.list()).toEqual([]);
  });

  test("annotations of other engines give nothing, and a pod that runs does not become privileged", async () => {
    await daemon();
    const annotations = {
      "io.podman.annotations.privileged": "TRUE",
      "io.kubernetes.cri-o.TrySkipVolumeSELinuxLabel": "true",
      "container.seccomp.security.alpha.kubernetes.io/main": "unconfined",
      "runt.dev/pod": JSON.stringify(podOf({ containers: [{ ...main, ...TRUE }] })),
      "org.runt.privileged": "true",
    };
    const container = { ...main, securityContext: { privileged: false } };
    expect((await create(podOf({ containers: [container] }, { annotations }))).status).toBe(200);
    await until(() => scene.list().some(({ id, status }) => id.includes("main") && status === "running"));
    const running = () => scene.list().find(({ id }) => id.includes("main"))!.pid;
    const before = running();
    expect((await create(podOf({ containers: [{ ...main, ...TRUE }] }))).status).toBe(422);
    expect(running()).toBe(before);
    expect(statusOf(before)["Seccomp"]).toBe("2");
    // DEFAULT_CAPABILITIES of the executor, by number.
    expect(statusOf(before)["CapBnd"]).toBe("00000000a80405fb");
    expect((await raw(join(scene.directory, "run/interlink.sock"), requestOf("POST", "/delete", podOf({})))).status).toBe(200);
    await until(() => scene.list().length === 0);
  });
});
