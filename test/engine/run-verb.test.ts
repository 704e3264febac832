/** `runtctl run`: a container of an image, as docker run has it. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RUNTCTL } from "./client-programs.ts";
import { baseLayer, writeLayout } from "./image-files.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!isRoot || !HAS_PROGRAMS || noNetworks !== undefined)("run (needs root, skopeo, umoci and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const image = () => {
    const directory = join(scene.directory, "image");
    if (!existsSync(directory))
      writeLayout(directory, { layers: [baseLayer()], config: { Entrypoint: ["/bin/sh", "-c"], Cmd: ["echo default"] } });
    return `oci:${directory}:v1`;
  };
  const run = (...args: string[]) => scene.ctl("run", "--image", image(), ...args);
  const tasks = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks as { name: string; known: string }[];

  test("its output, its exit status, and nothing left with --rm", async () => {
    await host.daemon();
    const told = `^pulling ${image()} \\(1 layer, \\S+\\)\nunpacking ${image()}\n$`;
    expect(await run("--rm")).toEqual({ status: 0, stdout: "default\n", stderr: expect.stringMatching(told) });
    const script = "echo out; echo err >&2; echo $COLOUR; id -u; pwd; exit 7";
    const ended = await run("--rm", "--network", "none", "-e", "COLOUR=blue", "-u", "1234", "-w", "/tmp", "--", script);
    expect(ended).toEqual({ status: 7, stdout: "out\nblue\n1234\n/tmp\n", stderr: "err\n" });
    expect(await tasks()).toEqual([]);
    expect((await run("--network", "none", "--name", "kept")).status).toBe(0);
    expect(await tasks()).toMatchObject([{ name: "kept", known: "STOPPED" }]);
    // A network is given back after the end is known.
    await until(async () => (await host.left()).length === 0);
  });

  test("-i in a pipe ends with its input, also an empty one, one of many bytes, and one that nobody reads", async () => {
    await host.daemon();
    const piped = (input: Buffer, script: string): Promise<readonly [number | null, string]> => {
      const [program, ...words] = [
        ...RUNTCTL,
        "-s",
        scene.socket,
        "run",
        "--image",
        image(),
        "--network",
        "none",
        "--rm",
        "-i",
        "--",
        script,
      ];
      const child = spawn(program!, words);
      let text = "";
      child.stdout.on("data", (chunk) => {
        text += chunk;
      });
      child.stdin.on("error", () => {}).end(input);
      return new Promise((resolve) => child.once("close", (status) => resolve([status, text])));
    };
    expect(await piped(Buffer.from("foo\n"), "cat")).toEqual([0, "foo\n"]);
    expect(await piped(Buffer.alloc(0), "cat; echo end; exit 4")).toEqual([4, "end\n"]);
    expect(await piped(Buffer.alloc(3_000_001, "x"), "sleep 0.3; cat | wc -c")).toEqual([0, "3000001\n"]);
    expect(await piped(Buffer.alloc(1_000_000, "x"), "echo done")).toEqual([0, "done\n"]);
    expect(await tasks()).toEqual([]);
  });

  test("a service in the background has its port and its volume, and its name once", async () => {
    await host.daemon();
    await scene.ctl("pull", image());
    const script = `mkdir /tmp/w && echo served > /tmp/w/name && echo x > /data/file && exec busybox httpd -f -p 80 -h /tmp/w`;
    const begun = await run("-d", "--name", "web", "-p", "18080:80", "-v", "data:/data", "--", script);
    expect(begun).toEqual({ status: 0, stdout: "web\n", stderr: "" });
    const fetched = () =>
      host.on(process.execPath, "-e", "fetch('http://127.0.0.1:18080/name').then((a) => a.text()).then(console.log, () => {})");
    await until(async () => (await fetched()) === "served\n\n");
    expect(await run("--name", "web")).toMatchObject({ status: 125, stdout: "", stderr: expect.stringContaining("there is a task web") });
    await scene.ctl("delete", "web");
    expect((await run("--rm", "-v", "data:/data:ro", "--", "cat /data/file; echo y > /data/file || echo refused")).stdout).toBe(
      "x\nrefused\n",
    );
    expect(await host.left()).toEqual([]);
  });

  test("-d --rm: it runs on without the client, and nothing of it is left when it has ended, not even that it has succeeded", async () => {
    await host.daemon();
    await scene.ctl("pull", image());
    const inside = ["-d", "--rm", "--network", "none", "-v", "data:/data"];
    const begun = await run(...inside, "--name", "late", "--", "until test -e /data/go; do sleep 0.05; done; echo done > /data/done");
    expect(begun).toEqual({ status: 0, stdout: "late\n", stderr: "" });
    expect(await tasks()).toMatchObject([{ name: "late", known: "RUNNING" }]);
    expect((await run("--rm", "-v", "data:/data", "--", "touch /data/go")).status).toBe(0);
    await until(async () => (await tasks()).length === 0);
    expect((await run("--rm", "-v", "data:/data", "--", "cat /data/done")).stdout).toBe("done\n");
    expect((await scene.ctl("delete", "late")).stderr).toContain("there is no task late");
    // One that has ended before the client has looked has been run, too.
    expect(await run(...inside, "--name", "short", "--", "exit 3")).toEqual({ status: 0, stdout: "short\n", stderr: "" });
    const missing = await run(...inside, "--entrypoint", "/bin/none");
    expect(missing).toMatchObject({ status: 127, stdout: "", stderr: expect.stringContaining("/bin/none") });
    await until(async () => (await tasks()).length === 0);
    expect(await host.left()).toEqual([]);
  });

  test("what cannot be run ends with 125 and says why, a program with 127 or 126, and a wrong command line with 2", async () => {
    await host.daemon();
    expect(await scene.ctl("run", "--image", "oci:/nowhere")).toMatchObject({ status: 125, stderr: expect.stringContaining("/nowhere") });
    for (const [program, status] of [
      ["/bin/none", 127],
      ["/etc/passwd", 126],
    ] as const) {
      const failed = { status, stdout: "", stderr: expect.stringContaining(program) };
      expect(await run("--rm", "--network", "none", "--entrypoint", program)).toMatchObject(failed);
      expect(await run("-d", "--rm", "--network", "none", "--entrypoint", program)).toMatchObject(failed);
    }
    expect(await run("-m", "nonsense")).toMatchObject({ status: 125, stderr: expect.stringContaining("size") });
    for (const args of [
      ["-p", "x"],
      ["-v", "x"],
      ["-d", "-i"],
      ["--cpus", "x"],
      ["-e", "RUNT_NOT_SET"],
    ])
      expect((await run(...args)).status).toBe(2);
  });

  test("a signal stops it, and what is typed on a terminal is the container's", async () => {
    await host.daemon();
    const begin = (...args: string[]) => {
      const command = [...RUNTCTL, "-s", scene.socket, "run", "--image", image(), "--network", "none", ...args];
      const line = command.map((one) => `'${one.replaceAll("'", "'\\''")}'`).join(" ");
      // The program of script(1) is a shell. Where that is dash, it would take ^C as well, and end with 130.
      const child = spawn("script", ["-qec", `exec ${line}`, "/dev/null"]);
      let text = "";
      child.stdout.on("data", (chunk) => {
        text += chunk;
      });
      return { child, text: () => text, ended: endOf(child) };
    };
    const signalled = begin("--rm", "--", `echo up; ${SLEEP}`);
    await until(() => signalled.text().includes("up"));
    signalled.child.stdin.write("\x03");
    expect(await signalled.ended).toBe(0);
    await until(async () => (await tasks()).length === 0);
    const typed = begin("--rm", "-i", "-t", "--", "stty -echo 2>/dev/null; echo ready; read line; echo got $line; exit 5");
    await until(() => typed.text().includes("ready"));
    typed.child.stdin.write("hello\r");
    expect(await typed.ended).toBe(5);
    expect(typed.text()).toContain("got hello");
  });
});

function endOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve) => child.once("exit", resolve));
}
