/** Pods and services made of images, by names as Kubernetes and Compose write them. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { isRoot, until, useEngine } from "./support.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!isRoot || !HAS_PROGRAMS)("pods made of images (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const image = (name: string, tag: string) =>
    writeLayout(join(scene.directory, "names", name), {
      layers: [baseLayer()],
      tag,
      config: { Entrypoint: ["/bin/sh", "-c"], Cmd: ['echo "image says $WORD in $(pwd)"'], Env: ["WORD=hello"], WorkingDir: "/tmp" },
    });
  const withImages = async () => {
    vi.stubEnv("RUNT_IMAGES", `oci:${scene.directory}/names`);
    return scene.daemon();
  };
  const lines = async (name: string, ...options: string[]) => (await scene.ctl(...options, "logs", name)).stdout.trimEnd().split("\n");

  test("P4 P32 command and args replace those of the image, and the daemon decides where image names without a registry are looked up", async () => {
    const digest = image("shop", "v1");
    await withImages();
    const pod = (name: string, fields: object) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: { restartPolicy: "Never", containers: [{ name: "a", image: "shop:v1", ...fields }] },
      });
    const text = [
      pod("plain", {}),
      pod("args", { args: ['echo "args say $WORD"'], env: [{ name: "WORD", value: "else" }] }),
      pod("command", { command: ["/bin/cat"], args: ["/etc/passwd"], workingDir: "/" }),
    ].join("\n---\n");
    expect(await scene.ctl("apply", "-f", scene.file("pods.yaml", text))).toMatchObject({ status: 0, stderr: "" });
    const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
    for (const name of ["plain", "args", "command"]) await until(async () => (await get(name)).status.phase === "Succeeded");
    expect(await lines("plain")).toEqual(["image says hello in /tmp"]);
    expect(await lines("args")).toEqual(["args say else"]);
    expect((await lines("command"))[0]).toMatch(/^root:x:0:0:/);
    expect((await get("plain")).status.containerStatuses[0]).toMatchObject({ image: "shop:v1", imageID: digest });
  });

  test("P4 runAsNonRoot: the user of the image decides, and a name is not known to be another one than root", async () => {
    for (const [name, user] of [
      ["root", ""],
      ["zero", "0:5"],
      ["named", "nobody"],
      ["other", "65534:5"],
    ])
      writeLayout(join(scene.directory, "names", name!), { layers: [baseLayer()], tag: "v1", config: { Cmd: ["/bin/true"], User: user! } });
    await withImages();
    const pod = (name: string, fields: object = {}) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: {
          restartPolicy: "Never",
          securityContext: { runAsNonRoot: true },
          containers: [{ name: "a", image: `${name}:v1`, ...fields }],
        },
      });
    const text = ["root", "zero", "named", "other"].map((name) => pod(name)).join("\n---\n");
    expect(await scene.ctl("apply", "-f", scene.file("users.yaml", text))).toMatchObject({ status: 0, stderr: "" });
    const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout).status;
    for (const name of ["root", "zero", "named"]) await until(async () => (await get(name)).phase === "Failed");
    for (const name of ["root", "zero"])
      expect(JSON.stringify(await get(name))).toContain("container has runAsNonRoot and image will run as root");
    expect(JSON.stringify(await get("named"))).toContain(
      "container has runAsNonRoot and image has non-numeric user (nobody), cannot verify user is non-root",
    );
    await until(async () => (await get("other")).phase === "Succeeded");
  });

  test("P4 with Never no image is pulled: a pod with a missing image fails, and a pod with a local image runs", async () => {
    image("shop", "v1");
    await withImages();
    const pod = (name: string, policy: string) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: { restartPolicy: "Never", containers: [{ name: "a", image: "shop:v1", imagePullPolicy: policy }] },
      });
    const apply = async (...pods: string[]) =>
      expect(await scene.ctl("apply", "-f", scene.file("never.yaml", pods.join("\n---\n")))).toMatchObject({ status: 0, stderr: "" });
    const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
    await apply(pod("before", "Never"));
    await until(async () => (await get("before")).status.phase === "Failed");
    expect(JSON.stringify((await get("before")).status)).toContain("is not there, and is not to be got");
    await apply(pod("got", "IfNotPresent"));
    await until(async () => (await get("got")).status.phase === "Succeeded");
    await apply(pod("after", "Never"));
    await until(async () => (await get("after")).status.phase === "Succeeded");
  });

  test("an image as a volume: its files can be read and neither be changed nor be run, by another daemon as well, and go with the pod", async () => {
    image("shop", "v1");
    const files = tar([
      { name: "model/", type: "5" },
      { name: "model/weights", content: "heavy" },
      { name: "model/run", content: "#!/bin/sh\necho ran\n", mode: 0o755 },
    ]);
    writeLayout(join(scene.directory, "names", "model"), { layers: [files], tag: "v1", config: {} });
    const script = [
      "cat /whole/model/weights; echo; ls /part; touch /whole/new 2>&1 | grep -o Read-only",
      "/part/run 2>/dev/null || echo not run; echo done; sleep 1000",
    ].join("; ");
    const mounts = [
      { name: "model", mountPath: "/whole" },
      { name: "model", mountPath: "/part", subPath: "model" },
    ];
    const container = { name: "a", image: "shop:v1", args: [script], volumeMounts: mounts };
    const volumes = [{ name: "model", image: { reference: "model:v1", pullPolicy: "IfNotPresent" } }];
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "reads" },
      spec: { terminationGracePeriodSeconds: 1, containers: [container], volumes },
    };
    const first = await withImages();
    expect(await scene.ctl("apply", "--wait", "-f", scene.file("pod.yaml", JSON.stringify(pod)))).toMatchObject({ status: 0 });
    const printed = ["heavy", "run", "weights", "Read-only", "not run", "done"];
    await until(async () => (await lines("reads")).length === printed.length);
    expect(await lines("reads")).toEqual(printed);
    const roots = () => readdirSync(join(scene.stateDir, "images/roots")).filter((name) => name.endsWith(".volume-model"));
    expect(roots()).toHaveLength(1);
    await first.kill();
    await scene.daemon();
    expect((await scene.ctl("exec", "reads", "-c", "a", "--", "cat", "/part/weights")).stdout).toBe("heavy");
    expect(await scene.ctl("delete", "reads")).toMatchObject({ status: 0 });
    expect(roots()).toEqual([]);
    const missing = { ...pod, spec: { ...pod.spec, volumes: [{ name: "model", image: { reference: "none:v1", pullPolicy: "Never" } }] } };
    await scene.ctl("apply", "-f", scene.file("pod.yaml", JSON.stringify(missing)));
    await until(async () => JSON.parse((await scene.ctl("get", "reads", "-o", "json")).stdout).status.phase === "Failed");
    expect((await scene.ctl("get", "reads", "-o", "json")).stdout).toContain("the resource volume:model could not be created");
  });

  test("P28 a container that writes too much to its root file system is stopped, and its pod has failed with the reason Evicted", async () => {
    image("shop", "v1");
    vi.stubEnv("RUNT_IMAGES", `oci:${scene.directory}/names`);
    await scene.daemon({ args: ["--volume-check", "200ms"] });
    const pod = (name: string, kilobytes: number) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: {
          restartPolicy: "Never",
          terminationGracePeriodSeconds: 5,
          containers: [
            {
              name: "a",
              image: "shop:v1",
              args: [`head -c ${kilobytes * 1024} /dev/zero > /tmp/file; trap 'exit 0' TERM; sleep 1000 & wait`],
              resources: { limits: { "ephemeral-storage": "2Mi" } },
            },
          ],
        },
      });
    const text = `${pod("calm", 512)}\n---\n${pod("greedy", 4096)}`.replaceAll("head", "/bin/busybox head");
    expect(await scene.ctl("apply", "-f", scene.file("pods.yaml", text))).toMatchObject({ status: 0, stderr: "" });
    const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
    await until(async () => (await get("greedy")).status.phase === "Failed");
    const { status } = await get("greedy");
    expect(status.reason).toBe("Evicted");
    expect(status.message).toMatch(/^the container a has \d{7} bytes in it, and may have 2097152/);
    expect((await get("calm")).status.phase).toBe("Running");
    expect((await scene.ctl("delete", "calm")).status).toBe(0);
  });

  test("P4 a process has the groups that the image gives its user, or on request only those of the pod", async () => {
    writeLayout(join(scene.directory, "names", "shop"), {
      layers: [baseLayer(), tar([{ name: "etc/group", content: "root:x:0:\nwww:x:99:\nmore:x:77:web\n" }])],
      tag: "v1",
      config: { Entrypoint: ["/bin/id", "-G"] },
    });
    await withImages();
    const pod = (name: string, policy: object) =>
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        spec: {
          restartPolicy: "Never",
          securityContext: { runAsUser: 1234, supplementalGroups: [55], ...policy },
          containers: [{ name: "a", image: "shop:v1" }],
        },
      });
    const text = `${pod("merged", {})}\n---\n${pod("strict", { supplementalGroupsPolicy: "Strict" })}`;
    expect(await scene.ctl("apply", "-f", scene.file("pods.yaml", text))).toMatchObject({ status: 0, stderr: "" });
    const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
    for (const name of ["merged", "strict"]) await until(async () => (await get(name)).status.phase === "Succeeded");
    const groups = async (name: string) => (await lines(name))[0]!.split(" ").sort();
    expect(await groups("merged")).toEqual(["55", "77", "99"]);
    expect(await groups("strict")).toEqual(["55", "99"]);
  });

  test("services of a Compose file with an image, an entrypoint, and a command alone", async () => {
    image("shop", "latest");
    await withImages();
    const text = `
services:
  plain: { image: shop, network_mode: none }
  command: { image: shop, network_mode: none, command: ["echo command $$WORD"] }
  entry: { image: shop, network_mode: none, entrypoint: [/bin/cat, /etc/group], pull_policy: always }
`;
    const file = scene.file("compose.yaml", text);
    expect(await scene.ctl("apply", "-f", file, "-p", "images")).toMatchObject({ status: 0, stderr: "" });
    const rows = async () => (await scene.ctl("-g", "images", "get")).stdout;
    await until(async () => (await rows()).match(/STOPPED/g)?.length === 3);
    expect(await lines("plain", "-g", "images")).toEqual(["image says hello in /tmp"]);
    expect(await lines("command", "-g", "images")).toEqual(["command hello"]);
    expect((await lines("entry", "-g", "images"))[0]).toBe("root:x:0:");
  });

  test("storage_opt: a service that writes more than the size of its root file system gets ENOSPC, and another daemon removes what it had", async () => {
    image("shop", "latest");
    const first = await withImages();
    const write = "dd if=/dev/zero of=/big bs=1M count=64 2>&1 | tail -1; ls -s /big; cat /etc/group | head -1; sleep 1000";
    const text = JSON.stringify({
      services: {
        web: { image: "shop", network_mode: "none", command: [write], storage_opt: { size: "16m" }, stop_grace_period: "1s" },
        dir: { "x-runt-rootfs": scene.rootfs(), network_mode: "none", command: "true" },
      },
    });
    const file = scene.file("compose.yaml", text);
    expect(await scene.ctl("apply", "-f", file, "-p", "images")).toMatchObject({ status: 0, stderr: "" });
    await until(async () => /root:x:0:/.test((await lines("web", "-g", "images")).join("\n")));
    const [blocks = ""] = /^\s*\d+(?= \/big)/m.exec((await lines("web", "-g", "images")).join("\n")) ?? [];
    expect(Number(blocks)).toBeGreaterThan(4 * 1024);
    expect(Number(blocks)).toBeLessThan(16 * 1024);
    await first.kill();
    await withImages();
    expect((await scene.ctl("delete", "-f", file, "-p", "images")).status).toBe(0);
    await until(() => readdirSync(join(scene.stateDir, "images/roots")).length === 0);
  });
});
