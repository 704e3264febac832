/** What a user of docker and kubectl sees at the terminal: words that they know, states, reasons, progress. */
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RUNTCTL } from "./client-programs.ts";
import { addIndex, baseLayer, tar, writeLayout } from "./image-files.ts";
import { HAS_REGISTRY, useRegistries } from "./registry.ts";
import { isRoot, LONGEST_MS, type ScriptTask, scriptTask, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!isRoot || !HAS_PROGRAMS)("at the terminal (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const registryOf = useRegistries(scene.directory);
  const fileOf = (name: string, tasks: readonly ScriptTask[]) =>
    scene.file(name, tasks.map((one) => scriptTask(scene.rootfs(), one)).join(""));

  test("exec takes a program as it is typed, also with options, in the only container or in the one that is the default", async () => {
    await scene.daemon();
    const container = (name: string) => ({
      name,
      rootfs: scene.rootfs(),
      command: "/bin/sh",
      args: ["-c", SLEEP],
      stopSignal: "SIGKILL",
      env: { ME: name },
    });
    const annotations = { "kubectl.kubernetes.io/default-container": "b" };
    const tasks = [
      { name: "one", containers: [container("main")] },
      { name: "two", containers: [container("a"), container("b")] },
      { name: "default", annotations, containers: [container("a"), container("b")] },
    ];
    const text = tasks.map((one) => `---\n${JSON.stringify(one)}\n`).join("");
    await scene.ctl("apply", "--wait", "-f", scene.file("three.yaml", text));
    const exec = (...words: string[]) => scene.ctl("exec", ...words);
    expect(await exec("one", "sh", "-c", "echo $ME; exit 7")).toEqual({ status: 7, stdout: "main\n", stderr: "" });
    expect((await exec("-e", "ME=you", "one", "sh", "-c", "echo $ME")).stdout).toBe("you\n");
    expect((await exec("one", "--", "sh", "-c", "echo $ME")).stdout).toBe("main\n");
    expect((await exec("default", "sh", "-c", "echo $ME")).stdout).toBe("b\n");
    expect((await exec("default", "-c", "a", "sh", "-c", "echo $ME")).stdout).toBe("a\n");
    expect(await exec("two", "true")).toMatchObject({ status: 1, stderr: expect.stringContaining("more than one container: a, b") });
    expect([(await exec("one", "no-such-program", "-l")).status, (await exec("one", "/etc", "-l")).status]).toEqual([127, 126]);
  });

  test("a container that fails its check is in a crash loop, and get and describe say which check it was and what it printed", async () => {
    await scene.daemon();
    const check = 'livenessCheck: { command: ["/bin/sh", "-c", "echo the database is gone; exit 1"], interval: 1s, retries: 1 }';
    const loop: ScriptTask = { name: "loop", script: SLEEP, container: `stopSignal: SIGKILL\n    restart: {}\n    ${check}` };
    const health = 'healthCheck: { command: ["/bin/sh", "-c", "echo not yet; exit 1"], interval: 1s, retries: 1 }';
    const sick: ScriptTask = {
      name: "sick",
      script: SLEEP,
      container: `stopSignal: SIGKILL\n    memory: 64Mi\n    env: { COLOUR: red }\n    ${health}`,
    };
    await scene.ctl("apply", "-f", fileOf("loop.yaml", [loop, sick]));
    await until(async () => /loop +main +CrashLoopBackOff/.test((await scene.ctl("get")).stdout));
    expect((await scene.ctl("get")).stdout).toMatch(/loop +main +CrashLoopBackOff .* failed its liveness check/);
    const described = (await scene.ctl("describe", "loop")).stdout;
    expect(described).toMatch(/Container main {2}CrashLoopBackOff, wanted RUNNING/);
    expect(described).toMatch(/Failed check: +liveness check\n +Its output: +the database is gone\n/);
    await until(async () => /sick +main +RUNNING +no +unhealthy /.test((await scene.ctl("get")).stdout));
    expect((await scene.ctl("get", "-A")).stdout).toMatch(/GROUP +TASK +CONTAINER +STATE +READY +HEALTH +RESTARTS +AGE +PORTS +REASON/);
    const of = (await scene.ctl("describe", "sick")).stdout;
    for (const line of [
      /Environment: +COLOUR=red/,
      /Limits: +memory 64Mi/,
      /Last check: +not yet/,
      /Readiness: +waits: healthCheck of main/,
    ])
      expect(of).toMatch(line);
    await scene.ctl("delete", "--all");
  });

  test("a program that run cannot execute, and a short name that the host has an alias for", async () => {
    const layout = join(scene.directory, "short");
    writeLayout(layout, { layers: [baseLayer()], config: { Cmd: ["/bin/sh", "-c", "echo default"] } });
    // What stands for a registry: the program that asks it is told to take a directory instead.
    const bin = join(scene.directory, "short-bin");
    const home = join(scene.directory, "short-home");
    mkdirSync(join(home, ".config/containers"), { recursive: true });
    mkdirSync(bin);
    writeFileSync(join(home, ".config/containers/registries.conf"), '[aliases]\n"tool" = "registry.example/team/tool"\n');
    const named = "docker://registry.example/team/tool";
    const script = `#!/bin/sh\nfor word; do case $word in ${named}*) word=oci:${layout}:v1;; docker://*) echo "no route to $word" >&2; exit 1;; esac; set -- "$@" "$word"; shift; done\nexec /usr/bin/skopeo "$@"\n`;
    writeFileSync(join(bin, "skopeo"), script, { mode: 0o755 });
    await scene.daemon({ env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: home } });
    const run = (...words: string[]) => scene.ctl("run", "--rm", "--network", "none", ...words);
    expect(await run("tool")).toMatchObject({ status: 0, stdout: "default\n", stderr: expect.stringMatching(/^pulling tool \(1 layer, /) });
    expect(await run("tool", "/bin/sh", "-c", "echo $0 $1; exit 3", "-x", "--rm")).toMatchObject({ status: 3, stdout: "-x --rm\n" });
    expect((JSON.parse((await scene.ctl("images", "-o", "json")).stdout) as { reference: string }[]).map((one) => one.reference)).toEqual([
      `${named}:latest`,
    ]);
    expect(await run("nginx:1.27")).toMatchObject({ status: 125, stderr: expect.stringContaining("docker.io/library/nginx:1.27") });
    expect([(await run("tool", "/bin/none")).status, (await run("tool", "/etc/passwd")).status]).toEqual([127, 126]);
    expect(await run()).toMatchObject({ status: 2, stderr: expect.stringContaining("name an image") });
  });

  test("a terminal shows a bar with layers and bytes while tasks wait for their image; get and describe say the same", async () => {
    const layout = join(scene.directory, "bar");
    writeLayout(layout, {
      layers: [baseLayer(), tar([{ name: "a", content: "b" }])],
      config: { Cmd: ["/bin/sh", "-c", SLEEP], StopSignal: "SIGKILL" },
    });
    const bin = join(scene.directory, "bar-bin");
    const go = join(scene.directory, "bar-go");
    mkdirSync(bin);
    const script = `#!/bin/sh\n[ "$1" != copy ] || until [ -e ${go} ]; do sleep 0.05; done\nexec /usr/bin/skopeo "$@"\n`;
    writeFileSync(join(bin, "skopeo"), script, { mode: 0o755 });
    await scene.daemon({ env: { PATH: `${bin}:${process.env["PATH"]}` } });
    const file = scene.file("bar.json", JSON.stringify({ name: "web", containers: [{ name: "app", image: `oci:${layout}:v1` }] }));
    const command = `${RUNTCTL.join(" ")} -s ${scene.socket} apply --wait -f ${file}`;
    const client = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] });
    onTestFinished(() => void client.kill("SIGKILL"));
    const ended = new Promise((done) => client.once("exit", done));
    let shown = "";
    client.stdout.on("data", (chunk) => {
      shown += chunk;
    });
    await until(() => /web\/app: pulling .* 0 of 2 layers, 0 of \d+/.test(shown));
    expect((await scene.ctl("get")).stdout).toMatch(/web +app +PULLING .* 0 of 2 layers, 0 of /);
    expect((await scene.ctl("describe", "web")).stdout).toMatch(/Container app {2}PULLING, .*Pull: +0 of 2 layers, 0 of /s);
    writeFileSync(go, "");
    expect(await ended).toBe(0);
    expect(shown).toMatch(/task web is ready\r\n$/);
    expect((await scene.ctl("events")).stdout).toMatch(/container app pulling oci:\S+ \(2 layers, /);
  });

  test.skipIf(!HAS_REGISTRY)("the size of an image that is one of an index is told before it is pulled", async () => {
    const registry = await registryOf();
    await scene.daemon({ before: registry.before });
    const directory = join(scene.directory, "index");
    writeLayout(directory, { layers: [baseLayer(), tar([{ name: "i", content: "i" }])], config: { Cmd: ["/bin/true"] } });
    addIndex(directory);
    const image = await registry.push(directory, "a:v1", true);
    const { status, stdout, stderr } = await scene.ctl("pull", image);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^pulling \S+ \(2 layers, \S+\)\nunpacking \S+\n/)]);
    // The image has the name of the index.
    const index = JSON.parse(readFileSync(join(directory, "index.json"), "utf8"));
    expect(stdout).toBe(`${index.manifests[0].digest}\n`);
    expect(await scene.ctl("pull", image)).toMatchObject({ status: 0, stderr: expect.stringContaining("nothing newer") });
  });

  test("logs prints what the tasks of a project print, and says how a file is named", async () => {
    await scene.daemon();
    const file = fileOf("two.yaml", [
      { name: "a", script: `echo from a; ${SLEEP}`, container: "stopSignal: SIGKILL" },
      { name: "b", script: `echo from b; ${SLEEP}`, container: "stopSignal: SIGKILL" },
    ]);
    await scene.ctl("-g", "shop", "apply", "--wait", "-f", file);
    const lines = async (...words: string[]) => (await scene.ctl("logs", ...words)).stdout.trimEnd().split("\n").sort();
    await until(async () => (await lines("-p", "shop")).length === 2);
    expect(await lines("-p", "shop")).toEqual(["a | from a", "b | from b"]);
    expect(await lines("-p", "shop", "b")).toEqual(["from b"]);
    expect(await scene.ctl("logs", "-f", file)).toMatchObject({ status: 1, stderr: expect.stringContaining(`--file ${file}`) });
    expect(await scene.ctl("logs", "-p", "none")).toMatchObject({ status: 2, stderr: expect.stringContaining("no tasks in group none") });
  });

  test(
    "restart stops what depends on others first, as stop does: of tasks, of a file and of a group",
    async () => {
      const { directory, lines } = sharedIn(scene, "restart-order");
      await scene.daemon();
      const server = (name: string, container = ""): ScriptTask => ({
        name,
        script: `trap 'echo "- ${name}" >> /shared/lines; exit 0' TERM; echo "+ ${name}" >> /shared/lines; while :; do sleep 0.05; done`,
        shared: directory,
        container,
      });
      const file = fileOf("pair.yaml", [server("db"), server("web", "dependsOn: [{ container: db/main, condition: START }]")]);
      await scene.ctl("apply", "-f", file);
      await until(() => lines().length === 2);
      for (const words of [["web", "db"], ["-f", file], ["--all"]]) {
        const before = lines().length;
        expect((await scene.ctl("restart", ...words)).status).toBe(0);
        await until(() => lines().length === before + 4);
        const later = lines().slice(before);
        expect(later.filter((line) => line.startsWith("-"))).toEqual(["- web", "- db"]);
        expect(later.indexOf("- web")).toBeLessThan(later.indexOf("- db"));
      }
      expect(await scene.ctl("stop", "-f", file)).toMatchObject({ status: 0 });
      expect(lines().slice(-2)).toEqual(["- web", "- db"]);
      await scene.ctl("start", "db", "web");
      await until(() => lines().slice(-2).sort().join() === "+ db,+ web");
    },
    LONGEST_MS,
  );

  test("images prune waits as long as an image is being unpacked, and says so", async () => {
    const layout = join(scene.directory, "prune");
    writeLayout(layout, { layers: [baseLayer(), tar([{ name: "p", content: "p" }])], config: { Cmd: ["/bin/true"] } });
    const bin = join(scene.directory, "prune-bin");
    const go = join(scene.directory, "prune-go");
    mkdirSync(bin);
    writeFileSync(join(bin, "umoci"), `#!/bin/sh\nuntil [ -e ${go} ]; do sleep 0.05; done\nexec /usr/bin/umoci "$@"\n`, { mode: 0o755 });
    await scene.daemon({ env: { PATH: `${bin}:${process.env["PATH"]}` } });
    const pulled = scene.ctl("pull", `oci:${layout}:v1`);
    await until(() => readdirSync(join(scene.stateDir, "images/staging")).some((name) => name.startsWith("unpack-")));
    const [program, ...words] = [...RUNTCTL, "-s", scene.socket, "images", "prune"];
    let told = "";
    const pruning = new Promise<number | null>((done) => {
      const child = execFile(program!, words, () => done(child.exitCode));
      onTestFinished(() => void child.kill("SIGKILL"));
      child.stderr!.on("data", (chunk) => {
        told += chunk;
      });
    });
    await until(() => told === "waiting until no image is being pulled or unpacked\n");
    writeFileSync(go, "");
    expect([(await pulled).status, await pruning]).toEqual([0, 0]);
    expect((await scene.ctl("images", "-o", "json")).stdout.trim()).toBe("[]");
  });

  test("without a daemon, the client says how one is started with the program beside it", async () => {
    const none = join(scene.directory, "none");
    mkdirSync(none);
    const [program, ...words] = RUNTCTL;
    const said = await new Promise<string>((done) => {
      execFile(program, [...words, "--run-dir", none, "get"], (_, __, stderr) => done(stderr));
    });
    expect(said).toContain(`${none}/admin.sock: no daemon answers\n`);
    expect(said).toMatch(new RegExp(`^Start it as root with: \\S+/bin/runtd --run-dir ${none}$`, "m"));
  });
});
