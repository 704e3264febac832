/** Images that are looked at, named, sent to a registry, written to an archive and taken from one, as docker has it. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseLayer, tar, writeDockerArchive, writeLayout } from "./image-files.ts";
import { HAS_REGISTRY, PASSWORD, USER, useRegistries } from "./registry.ts";
import { isRoot, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot || !HAS_REGISTRY)("images given to others (needs root, skopeo, umoci and docker-registry)", () => {
  const scene = useEngine();
  const registryOf = useRegistries(scene.directory);
  const HEALTH = { Test: ["CMD", "/bin/true"], Interval: 5_000_000_000 };
  let count = 0;
  /** An archive as docker save writes it, whose image has a health check. */
  const archive = (): string => {
    const path = join(scene.directory, `archive-${++count}.tar`);
    const layers = [baseLayer(), tar([{ name: "text", content: `text ${count}` }])];
    writeDockerArchive(path, { layers, config: { Cmd: ["/bin/sh", "-c", "cat /text"], Env: ["PATH=/bin"], Healthcheck: HEALTH } });
    return path;
  };
  const references = async () =>
    (JSON.parse((await scene.ctl("images", "-o", "json")).stdout) as { reference: string }[]).map(({ reference }) => reference);
  const told = (text: string) => ({ status: 1, stdout: "", stderr: expect.stringContaining(text) });

  test("an image of an archive is named, looked at, written to another archive and taken from it again, with its health check", async () => {
    await scene.daemon();
    expect(await scene.ctl("load", "-i", archive())).toEqual({ status: 0, stdout: "docker://docker.io/library/a:v1\n", stderr: "" });
    expect(await scene.ctl("tag", "a:v1", "registry.example/team/tool:v2")).toMatchObject({
      ...{ status: 0, stdout: "docker://registry.example/team/tool:v2\n" },
    });
    const inspected = async (name: string) => JSON.parse((await scene.ctl("inspect", name)).stdout);
    expect(await inspected("registry.example/team/tool:v2")).toMatchObject({
      names: expect.arrayContaining(["docker://docker.io/library/a:v1", "docker://registry.example/team/tool:v2"]),
      layers: [{ size: expect.any(Number) }, { size: expect.any(Number) }],
      configuration: { config: { Env: ["PATH=/bin"], Healthcheck: HEALTH } },
    });
    const saved = join(scene.directory, "saved.tar");
    expect(await scene.ctl("save", "-o", saved, "registry.example/team/tool:v2")).toEqual({ status: 0, stdout: "", stderr: "" });
    const [listed] = JSON.parse(execFileSync("tar", ["-xOf", saved, "manifest.json"], { encoding: "utf8" }));
    expect(listed.RepoTags).toEqual(["registry.example/team/tool:v2"]);
    expect(await scene.ctl("save", "-o", saved, "a:v1")).toMatchObject({ status: 2, stderr: expect.stringContaining("exists already") });
    await scene.ctl("images", "prune");
    expect(await references()).toEqual([]);
    expect((await scene.ctl("load", "-i", saved)).stdout).toBe("docker://registry.example/team/tool:v2\n");
    expect((await inspected("registry.example/team/tool:v2")).configuration.config.Healthcheck).toEqual(HEALTH);
    const ran = await scene.ctl("run", "--rm", "--network", "none", "--pull", "never", "registry.example/team/tool:v2");
    expect(ran).toEqual({ status: 0, stdout: `text ${count}`, stderr: "" });
    await until(() => readdirSync(join(scene.stateDir, "images/staging")).length === 0);
  });

  test("an image is sent to a registry with the credentials of the host, and has the same digest there", async () => {
    const registry = await registryOf({ hasUsers: true });
    const file = join(scene.directory, "auth.json");
    const auth = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
    writeFileSync(file, JSON.stringify({ auths: { [registry.host]: { auth } } }), { mode: 0o600 });
    const layout = join(scene.directory, "pushed");
    writeLayout(layout, { layers: [baseLayer(), tar([{ name: "p", content: "p" }])], config: { Cmd: ["/bin/true"] } });
    await scene.daemon({ before: registry.before, args: ["--credentials", `shop=file:${file}`] });
    const reference = `oci:${layout}:v1`;
    await scene.ctl("pull", reference);
    const name = `${registry.host}/shop/web:v1`;
    expect(await scene.ctl("push", reference, name)).toMatchObject(told("unauthorized"));
    const pushed = await scene.ctl("push", "--credentials", "shop", reference, name);
    expect(pushed).toMatchObject({ status: 0, stdout: expect.stringMatching(/^sha256:[0-9a-f]{64}\n$/) });
    expect((await scene.ctl("pull", "-q", "--credentials", "shop", name)).stdout).toBe(pushed.stdout);
    expect(JSON.stringify(pushed)).not.toContain(PASSWORD);
  });

  test("what is not there, no name of a registry, and no archive are refused by name", async () => {
    await scene.daemon();
    expect(await scene.ctl("inspect", "none")).toMatchObject(told("docker://docker.io/library/none:latest: it is not in the store"));
    expect((await scene.ctl("inspect", "none")).stderr).toContain("runtctl describe none");
    for (const words of [
      ["tag", "none", "registry.example/a"],
      ["push", "none"],
      ["save", "-o", join(scene.directory, "none.tar"), "none"],
    ])
      expect(await scene.ctl(...words)).toMatchObject(told("is not in the store"));
    await scene.ctl("load", "-i", archive());
    for (const name of ["oci:/x:v1", "registry.example/UPPER", `registry.example/a@sha256:${"0".repeat(64)}`])
      expect(await scene.ctl("tag", "a:v1", name)).toMatchObject(told("is no name with a tag"));
    const text = scene.file("text.tar", "no archive");
    expect((await scene.ctl("load", "-i", text)).status).toBe(1);
    expect((await scene.ctl("load", "-i", "/none.tar")).stderr).toContain("/none.tar");
    expect(await scene.ctl("load", "-i", "a:b")).toMatchObject({ status: 1 });
    expect((await scene.ctl("load")).status).toBe(2);
    expect(existsSync(join(scene.directory, "none.tar"))).toBe(false);
    await until(() => readdirSync(join(scene.stateDir, "images/staging")).length === 0);
  });
});
