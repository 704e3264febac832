/** Files of Podman's Quadlet: translated by the client, run by the daemon as tasks of a group. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

describe.skipIf(!isRoot)("Quadlet files (needs root)", () => {
  const scene = useEngine();

  test("a directory is applied: a oneshot before what depends on it, a volume, a drop-in and an instance of a template", async () => {
    await scene.daemon();
    const out = sharedIn(scene, "quadlet");
    const directory = join(scene.directory, "units");
    const put = (name: string, text: string) => writeFileSync(join(directory, name), text);
    mkdirSync(join(directory, "web.container.d"), { recursive: true });
    const script = (text: string) => `Exec=/bin/sh -c "${text.replaceAll('"', '\\"').replaceAll("$", "$$$$")}"`;
    const head = `[Container]\nRootfs=${scene.rootfs()}\nNetwork=none\nVolume=${out.directory}:/out\nStopTimeout=5\n`;
    put(
      "setup.container",
      `${head}Volume=data.volume:/data\n${script("echo setup >> /out/lines; echo kept > /data/file")}\n[Service]\nType=oneshot\n`,
    );
    put(
      "web.container",
      `[Unit]\nRequires=setup.service\n${head}Volume=data.volume:/data\n${script(`echo "$WORD $(cat /data/file)" >> /out/lines; ${SLEEP}`)}\n`,
    );
    put("web.container.d/10.conf", "[Container]\nEnvironment=WORD=drop-in\n");
    put("data.volume", "[Volume]\n");
    put("t@.container", `${head}${script("echo %i >> /out/lines")}\n[Unit]\nAfter=web.container\n`);
    symlinkSync("t@.container", join(directory, "t@one.container"));
    const applied = await scene.ctl("apply", "-f", directory, "-p", "shop");
    expect(applied).toMatchObject({ status: 0, stdout: "task setup created\ntask t-one created\ntask web created\n" });
    expect(applied.stderr).toContain("t@.container:1:1: warning: is a template, and nothing starts it");
    await until(() => out.lines().length === 3);
    expect(out.lines()).toEqual(["setup", "drop-in kept", "one"]);
    expect((await scene.ctl("volumes")).stdout).toContain("systemd-data");
    await until(async () => /setup +setup +STOPPED/.test((await scene.ctl("-g", "shop", "get")).stdout));
    expect((await scene.ctl("plan", "-f", directory, "-p", "shop", "--exit-code")).status).toBe(0);
    put("web.container", `${head}PodmanArgs=--privileged\n${script("true")}\n`);
    expect(await scene.ctl("validate", "-f", join(directory, "web.container"))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("web.container:6:1: Container/PodmanArgs: is not supported: podman does not run here"),
    });
    for (const name of ["web", "t-one", "setup"]) expect((await scene.ctl("-g", "shop", "delete", name)).status).toBe(0);
    expect((await scene.ctl("-g", "shop", "volumes", "remove", "--unused")).status).toBe(0);
  });

  test("a pod is one task, and a file .kube gives pods", async () => {
    await scene.daemon();
    const out = sharedIn(scene, "quadlet-pod");
    const directory = join(scene.directory, "pod-units");
    mkdirSync(directory, { recursive: true });
    const put = (name: string, text: string) => writeFileSync(join(directory, name), text);
    const head = `[Container]\nRootfs=${scene.rootfs()}\nPod=pair.pod\n`;
    put("pair.pod", `[Pod]\nNetwork=none\nHostName=pair\nVolume=${out.directory}:/out\n`);
    put("one.container", `${head}Exec=/bin/sh -c "readlink /proc/self/ns/net >> /out/lines"\n[Service]\nType=oneshot\n`);
    put("two.container", `${head}Exec=/bin/sh -c "readlink /proc/self/ns/net >> /out/lines"\n[Unit]\nAfter=one.container\n`);
    expect(await scene.ctl("apply", "-f", directory, "-p", "pairs")).toMatchObject({ status: 0, stdout: "task pair created\n" });
    await until(() => out.lines().length === 2);
    expect(new Set(out.lines()).size).toBe(1);
    await until(async () => /pair +two +STOPPED/.test((await scene.ctl("-g", "pairs", "get")).stdout));
    expect((await scene.ctl("-g", "pairs", "delete", "pair")).status).toBe(0);
    const kube = join(scene.directory, "kube-units");
    mkdirSync(kube, { recursive: true });
    writeFileSync(join(kube, "web.kube"), "[Kube]\nYaml=pod.yaml\n");
    writeFileSync(
      join(kube, "pod.yaml"),
      "apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec: { containers: [{ name: a, image: registry.example/a, foo: 1 }] }\n",
    );
    const told = await scene.ctl("validate", "-f", kube);
    expect(told.stderr).toContain(`${join(kube, "pod.yaml")}:4:`);
    expect(told.stderr).toContain('the field "foo" is not supported');
  });
});
