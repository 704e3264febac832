/** Logs that are forwarded to a socket, also after it was away. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { http, isRoot, sharedIn, until, useEngine } from "./support.ts";

interface Received {
  readonly tag: string;
  readonly container: string;
  readonly stream: string;
  readonly line: string;
}

describe.skipIf(!isRoot)("forwarded logs (needs root)", () => {
  const scene = useEngine();
  const path = join(scene.directory, "router.sock");
  let server: Server | undefined;
  let received: Received[] = [];
  const sockets = new Set<Socket>();
  const listen = async () => {
    rmSync(path, { force: true });
    const router = createServer((socket) => {
      sockets.add(socket);
      let bytes = Buffer.alloc(0);
      socket.on("data", (chunk) => {
        bytes = Buffer.concat([bytes, chunk]);
        while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0)) {
          const end = 4 + bytes.readUInt32BE(0);
          received.push(JSON.parse(bytes.subarray(4, end).toString()));
          bytes = bytes.subarray(end);
        }
      });
    });
    await new Promise<void>((ready) => router.listen(path, ready));
    server = router;
  };
  const leave = async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await new Promise((closed) => (server === undefined ? closed(undefined) : server.close(closed)));
    server = undefined;
  };
  afterEach(async () => {
    await leave();
    received = [];
  });
  const lines = (stream: string) => received.filter((one) => one.stream === stream).map(({ line }) => line);
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);

  test("E53: each line once and in order, with its tag; what was printed while the router or the daemon was away comes afterwards", async () => {
    const shared = sharedIn(scene, "forward");
    // It prints ten lines for each file that comes.
    const script =
      "n=0; for step in 1 2 3; do while [ ! -e /shared/$step ]; do sleep 0.05; done; for i in 0 1 2 3 4 5 6 7 8 9; do n=$((n+1)); echo line $n; done; done; echo end >&2; exec sleep 1000";
    const container = {
      ...{ name: "app", rootfs: scene.rootfs(), command: "/bin/sh", args: ["-c", script], stopSignal: "SIGKILL" },
      ...{ mounts: [{ source: shared.directory, target: "/shared" }], log: { forward: { socket: path } } },
    };
    const step = (name: number) => writeFileSync(join(shared.directory, String(name)), "");
    const logged = async () => (await scene.ctl("logs", "t", "-c", "app")).stdout;
    const daemon = await scene.daemon();
    await listen();
    expect((await http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name: "t", containers: [container] }) })).status).toBe(
      200,
    );
    step(1);
    await until(() => lines("stdout").length >= 10);
    expect(received[0]).toMatchObject({ tag: "app-firelens-t", container: "app", line: "line 1" });
    await leave();
    step(2);
    await until(async () => (await logged()).includes("line 20"));
    await listen();
    await until(() => lines("stdout").length >= 20);
    expect(lines("stdout")).toEqual(numbers(1, 20));
    // How far it was sent is kept behind that: generation, inode and offset.
    const { log } = JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text).containers[0] as { log: string };
    const place = log.replace(/\.\d+\.log$/, ".forwarded");
    await until(() => existsSync(place) && readFileSync(place, "utf8").split("-")[2] === String(statSync(log).size));
    await daemon.kill();
    step(3);
    await scene.daemon();
    await until(() => lines("stderr").length > 0);
    expect(lines("stdout")).toEqual(numbers(1, 30));
    // A further incarnation is of the same tag.
    await scene.ctl("restart", "t");
    await until(() => lines("stderr").length === 2);
    expect(lines("stdout").slice(30)).toEqual(numbers(1, 30));
    expect(new Set(received.map(({ tag }) => tag))).toEqual(new Set(["app-firelens-t"]));
    await scene.ctl("delete", "t");
  });

  test("E51: a log goes to journald with its greeting and the priority of each line; a log of the driver none is dropped, and nobody can read it", async () => {
    const journal = join(scene.directory, "journal.sock");
    let text = "";
    const listener = createServer((socket) => {
      sockets.add(socket);
      socket.on("data", (chunk) => {
        text += chunk;
      });
    });
    await new Promise<void>((ready) => listener.listen(journal, ready));
    server = listener;
    await scene.daemon({ args: ["--journal-socket", journal] });
    const container = (name: string, log: object) => ({
      ...{ name, rootfs: scene.rootfs(), command: "/bin/sh", args: ["-c", "echo out; echo bad >&2; exec sleep 1000"] },
      ...{ stopSignal: "SIGKILL", log },
    });
    const containers = [container("app", { driver: "journald", maxSize: "64Ki" }), container("quiet", { driver: "none" })];
    await http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name: "t", containers }) });
    await until(() => text.includes("out\n") && text.includes("bad\n"));
    expect(text.startsWith("t/app\n\n6\n1\n0\n0\n0\n")).toBe(true);
    expect(text.slice("t/app\n\n6\n1\n0\n0\n0\n".length).split("\n").sort()).toEqual(["", "<3>bad", "<6>out"]);
    expect((await scene.ctl("logs", "t", "-c", "app")).stdout).toContain("out\n");
    for (const verb of ["logs", "attach"]) {
      const refused = await scene.ctl(verb, "t", "-c", "quiet");
      expect(refused.status).not.toBe(0);
      expect(refused.stderr).toContain("what container quiet of task t prints is dropped: its log has the driver none");
    }
    const { log } = JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text).containers[1] as { log: string };
    expect(existsSync(log)).toBe(false);
    expect((await scene.ctl("delete", "t")).status).toBe(0);
  });

  test("E53: if nobody ever listens to the log, the container runs and ends all the same, and its task can be deleted", async () => {
    await scene.daemon();
    const container = {
      ...{
        name: "app",
        rootfs: scene.rootfs(),
        command: "/bin/sh",
        args: ["-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; done"],
      },
      log: { forward: { socket: path, tag: "own" } },
    };
    await http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name: "t", containers: [container] }) });
    await until(async () => /"known":"STOPPED"/.test((await http(scene.socket, "GET", "/v1/tasks/t")).text));
    await listen();
    await until(() => lines("stdout").length >= 2000);
    expect(lines("stdout")).toEqual(numbers(1, 2000));
    expect(received[0]!.tag).toBe("own");
    expect((await scene.ctl("delete", "t")).status).toBe(0);
  });
});
