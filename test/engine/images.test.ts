/** Containers made of images: what they see, what the image says of them, and what is left. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseLayer, type ImageText, tar, writeDockerArchive, writeLayout } from "./image-files.ts";
import { statusOf } from "./kernel-files.ts";
import { eventsOf, http, identityOf, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!isRoot || !HAS_PROGRAMS)("images (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  let count = 0;
  const layout = (image: Partial<ImageText> = {}): { reference: string; directory: string; digest: string } => {
    const directory = join(scene.directory, `layout-${++count}`);
    const digest = writeLayout(directory, { layers: [baseLayer()], ...image });
    return { reference: `oci:${directory}:v1`, directory, digest };
  };
  const task = async (name = "t") => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = (containers: readonly object[], name = "t", fields: object = {}) =>
    http(scene.socket, "POST", "/v1/apply", {
      text: JSON.stringify({ name, ...fields, containers: containers.map((one, at) => ({ name: `c${at}`, stopTimeout: "5s", ...one })) }),
    });
  const settled = async (name = "t") => {
    await until(async () => /RUNNING|STOPPED/.test((await task(name)).known));
    return task(name);
  };
  const logOf = (record: { containers: { log: string }[] }, at = 0) =>
    readFileSync(record.containers[at]!.log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" ").slice(3).join(" "));
  /** What a script in a container of this image prints. */
  const said = async (reference: string, script: string, fields: object = {}) => {
    await apply([{ image: reference, command: "/bin/sh", args: ["-c", script], ...fields }]);
    await until(async () => (await task()).known === "STOPPED");
    const record = await task();
    expect(record.reason).toMatch(/exited with 0$/);
    const lines = logOf(record);
    await scene.ctl("delete", "t");
    return lines;
  };
  const imagesDirectory = () => join(scene.stateDir, "images");
  const mountsOf = () =>
    readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(scene.stateDir));

  test("E45: layers are stacked, unpacked once for all images that have them, and found again after a kill", async () => {
    const daemon = await scene.daemon();
    const upper = tar([
      { name: "etc/added", content: "added\n" },
      { name: "etc/.wh.group", content: "" },
      { name: "opt/", type: "5" },
      { name: "opt/a", content: "a" },
    ]);
    const opaque = tar([
      { name: "opt/.wh..wh..opq", content: "" },
      { name: "opt/b", content: "b" },
    ]);
    const first = layout({ layers: [baseLayer(), upper, opaque] });
    const second = layout({ layers: [baseLayer(), upper], config: { Cmd: ["true"] } });
    await apply([
      {
        image: first.reference,
        command: "sh",
        args: ["-c", `ls /etc /opt; cat /etc/added; cat /etc/mark; echo written > /etc/mark; ${SLEEP}`],
      },
      { image: second.reference, command: "sh", args: ["-c", `ls /etc /opt; ${SLEEP}`] },
    ]);
    expect((await settled()).reason).toBe(null);
    const record = await task();
    expect(record.containers.map((one: { image: object }) => one.image)).toEqual([
      { reference: first.reference, digest: first.digest, via: "pulled" },
      { reference: second.reference, digest: second.digest, via: "pulled" },
    ]);
    expect(record.pulls.stoppedMs).toBeGreaterThanOrEqual(record.pulls.startedMs);
    await until(() => logOf(record).includes("added") && logOf(record, 1).includes("a"));
    expect(logOf(record).join(" ")).toContain("/etc: added passwd  /opt: b added");
    expect(logOf(record, 1).join(" ")).toContain("/opt: a");
    expect(readdirSync(join(imagesDirectory(), "layers"))).toHaveLength(3);
    await until(() => readdirSync(join(imagesDirectory(), "staging")).length === 0);
    const before = scene.list().map(({ pid }) => identityOf(pid));
    const told = (await eventsOf(scene.socket, 0)).map(({ data }) => data).filter(({ type }) => type === "image");
    expect(told).toHaveLength(2);
    expect(told).toContainEqual(expect.objectContaining({ container: "c0", digest: first.digest, via: "pulled", error: null }));
    expect(told).toContainEqual(expect.objectContaining({ container: "c1", digest: second.digest }));
    expect((await scene.ctl("describe", "t")).stdout).toMatch(new RegExp(`^  Image digest: +${first.digest}$`, "m"));
    await daemon.kill();
    rmSync(first.directory, { recursive: true });
    rmSync(second.directory, { recursive: true });
    await scene.daemon();
    expect(scene.list().map(({ pid }) => identityOf(pid))).toEqual(before);
    // The next incarnation is of the same image, although the source is gone, and has nothing of what the one before has written.
    await scene.ctl("restart", "t", "-c", "c0");
    await until(async () => (await task()).containers[0].generation === 2 && (await task()).containers[0].known === "RUNNING");
    await until(async () => logOf(await task()).includes("added"));
    expect(logOf(await task())).not.toContain("written");
    await until(() => readdirSync(join(imagesDirectory(), "roots")).length === 2);
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    expect(readdirSync(join(imagesDirectory(), "roots"))).toEqual([]);
    expect(mountsOf()).toEqual([]);
  });

  test("what the image says of the process holds where the task says nothing", async () => {
    await scene.daemon();
    const volume = tar([
      { name: "data/", type: "5", mode: 0o711, uid: 1234 },
      { name: "data/seed", content: "seed", uid: 1234 },
    ]);
    const { reference } = layout({
      layers: [baseLayer(), volume],
      config: {
        Env: ["PATH=/bin", "COLOUR=blue", "SIZE=1"],
        Entrypoint: ["/bin/sh", "-c"],
        Cmd: ["id -u; id -g; pwd; echo $COLOUR $SIZE; cat /data/seed; stat -c '%a %u' /data; touch /data/new && echo written"],
        User: "web:www",
        WorkingDir: "/srv/made",
        Volumes: { "/data": {} },
      },
    });
    await apply([{ image: reference, env: { SIZE: "2" }, readonlyRootfs: true }]);
    await until(async () => (await task()).known === "STOPPED");
    expect(logOf(await task())).toEqual(["1234", "99", "/srv/made", "blue 2", "seed711 1234", "written"]);
    expect(await said(reference, "id -u; pwd", { user: "0", cwd: "/tmp" })).toEqual(["0", "/tmp"]);
    expect(mountsOf()).toEqual([]);
  });

  test("E76: a container has the stop signal and the health check of its image, unless the task has others", async () => {
    await scene.daemon();
    const script = "trap 'echo usr1; exit 0' USR1; trap 'echo term; exit 0' TERM; touch /tmp/ok; sleep 1000 & wait $!";
    const { reference } = layout({
      config: {
        Cmd: ["/bin/sh", "-c", script],
        StopSignal: "SIGUSR1",
        Healthcheck: { Test: ["CMD-SHELL", "test -e /tmp/ok"], Interval: 100_000_000 },
      },
    });
    await apply([
      { image: reference },
      { image: reference, stopSignal: "SIGTERM", dependsOn: [{ container: "c0", condition: "HEALTHY" }] },
    ]);
    await until(async () => (await task()).containers.every(({ known }: { known: string }) => known === "RUNNING"));
    const detail = JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t/detail")).text);
    expect(detail.containers[0].health.status).toBe("HEALTHY");
    const record = await task();
    await scene.ctl("stop", "t");
    expect([logOf(record), logOf(record, 1)]).toEqual([["usr1"], ["term"]]);
  });

  test("where there are no overlays, the root file system is a copy", async () => {
    await scene.daemon({ args: ["--image-roots", "copy"] });
    const { reference } = layout({ layers: [baseLayer(), tar([{ name: "etc/.wh.group" }])] });
    expect(await said(reference, "ls /etc; echo x > /etc/new; ls /etc")).toEqual(["passwd", "new", "passwd"]);
    expect(await said(reference, "ls /etc")).toEqual(["passwd"]);
    expect(mountsOf()).toEqual([]);
    expect(readdirSync(join(imagesDirectory(), "roots"))).toEqual([]);
  });

  test("an archive of Docker's keeps its health check, and is got once by two containers", async () => {
    await scene.daemon();
    const archive = join(scene.directory, "archive.tar");
    const healthcheck = { Test: ["CMD", "/bin/true"], Interval: 100_000_000 };
    writeDockerArchive(archive, { layers: [baseLayer()], config: { Cmd: ["/bin/sh", "-c", SLEEP], Healthcheck: healthcheck } });
    await apply([{ image: `docker-archive:${archive}` }, { image: `docker-archive:${archive}` }]);
    await until(async () => (await task()).known !== "NONE");
    expect(await settled()).toMatchObject({ known: "RUNNING" });
    const detail = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t/detail")).text);
    await until(async () =>
      (await detail()).containers.every(({ health }: { health: { status: string } }) => health?.status === "HEALTHY"),
    );
    const pid = scene.list()[0]!.pid;
    expect(statusOf(pid)["NoNewPrivs"]).toBe("1");
    // By the name that it has in the archive, too.
    expect((await scene.ctl("pull", `docker-archive:${archive}:a:v1`)).status).toBe(0);
    expect((await scene.ctl("pull", `docker-archive:${archive}:a:v2`)).status).not.toBe(0);
  });

  test("what cannot be had: the task stops, says why, and nothing is left", async () => {
    await scene.daemon();
    const cases: readonly (readonly [container: object, reason: RegExp])[] = [
      [{ image: "oci:/nowhere:v1" }, /could not be provided: skopeo .*nowhere/],
      [{ image: layout({ top: { architecture: "mips64" } }).reference }, /it is for linux\/mips64/],
      [{ image: layout().reference }, /names no program/],
      [{ image: layout({ config: { Cmd: ["sh"], StopSignal: "SIGNONE" } }).reference }, /stop signal "SIGNONE" is none/],
      [{ image: layout({ config: { Cmd: ["sh"], User: "nobody-there" } }).reference }, /no user "nobody-there"/],
    ];
    for (const [at, [container]] of cases.entries()) await apply([container], `t${at}`);
    for (const [at, [, reason]] of cases.entries()) {
      await until(async () => (await task(`t${at}`)).known === "STOPPED");
      expect((await task(`t${at}`)).reason).toMatch(reason);
      expect((await scene.ctl("delete", `t${at}`)).status).toBe(0);
    }
    await until(() => readdirSync(join(imagesDirectory(), "staging")).length === 0);
    expect(readdirSync(join(imagesDirectory(), "roots"))).toEqual([]);
    expect(mountsOf()).toEqual([]);
  });

  test("a program that is not installed is named with its package", async () => {
    const bin = join(scene.directory, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "node"), "");
    await scene.daemon({ before: `export PATH=${bin}` });
    await apply([{ image: layout().reference, command: "sh" }]);
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toContain("skopeo is not installed: apt-get install skopeo");
  });

  test("while layers are unpacked that is the state and the event; apply --wait tells of it, and of layers that are there nothing", async () => {
    const bin = join(scene.directory, "slow-bin");
    const go = join(scene.directory, "go");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "umoci"), `#!/bin/sh\nuntil [ -e ${go} ]; do sleep 0.05; done\nexec /usr/bin/umoci "$@"\n`, { mode: 0o755 });
    await scene.daemon({ env: { PATH: `${bin}:${process.env["PATH"]}` } });
    const { reference } = layout();
    const file = (name: string) =>
      scene.file(`${name}.json`, JSON.stringify({ name, containers: [{ name: "c", image: reference, command: "true" }] }));
    const waited = scene.ctl("apply", "--wait", "-f", file("first"));
    await until(async () => (await scene.ctl("get")).stdout.includes("UNPACKING"));
    const progress = { layers: { done: 1, total: 1 } };
    expect(await task("first")).toMatchObject({ containers: [{ known: "NONE", pull: "unpacking", pullProgress: progress }] });
    writeFileSync(go, "");
    const told = new RegExp(`^(?:first/c: (?:pulling|unpacking) ${reference} \\(1 layer, \\S+\\)\n){2}$`);
    expect(await waited).toMatchObject({ status: 0, stderr: expect.stringMatching(told) });
    expect((await task("first")).containers[0]).not.toHaveProperty("pull");
    expect((await scene.ctl("describe", "first")).stdout).toContain(`container c unpacking ${reference}`);
    expect(await scene.ctl("apply", "--wait", "-f", file("second"))).toMatchObject({ status: 0, stderr: "" });
  });

  test("refused before anything: a reference that is none, and an image beside a root file system", async () => {
    await scene.daemon();
    const answer = await apply([
      { image: "busybox" },
      { image: "oci:/a", rootfs: "/b" },
      { rootfs: "/b", command: "x", pullPolicy: "once" },
    ]);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("write oci:DIR[:tag]");
    const combined = await apply([
      { image: "oci:/a", rootfs: "/b" },
      { rootfs: "/b", command: "x", pullPolicy: "once" },
    ]);
    expect(combined.text).toContain("has rootfs and image: give one");
    expect(combined.text).toContain("there is nothing to pull");
  });
});
