/** Logs that are forwarded to a socket, also after it was away. */
import { createSocket } from "node:dgram";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
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

  test("E53: each line arrives once and in order, with its tag; lines from a time without router or daemon arrive afterwards", async () => {
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

  test("E51: a log goes to journald with its header and the priority of each line; a log of the driver none is dropped, and logs prints nothing", async () => {
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

  test("E53: if no receiver ever reads the log, the container still runs and ends, and its task can be deleted", async () => {
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

  test("E53: lines go to syslog, GELF and fluentd in their protocols, also to a late receiver; a receiver that never comes blocks nothing", async () => {
    const syslog: Buffer[] = [];
    const gelf: Buffer[] = [];
    const fluentd: Buffer[] = [];
    const collect = async (into: Buffer[], place: { path: string } | { port: number; host: string }) => {
      const receiver = createServer((socket) => {
        sockets.add(socket);
        socket.on("data", (chunk) => into.push(chunk));
      });
      await new Promise<void>((ready) => receiver.listen(place, ready));
      return receiver;
    };
    const datagrams = createSocket("udp4");
    datagrams.on("message", (message) => gelf.push(message));
    await new Promise<void>((ready) => datagrams.bind(0, "127.0.0.1", ready));
    // A port at which nobody listens yet.
    const reserved = await collect([], { port: 0, host: "127.0.0.1" });
    const { port } = reserved.address() as AddressInfo;
    await new Promise((closed) => reserved.close(closed));
    const socket = join(scene.directory, "fluent.sock");
    const receivers: Server[] = [];
    try {
      await scene.daemon();
      const container = (name: string, receiver: object) => ({
        ...{ name, rootfs: scene.rootfs(), command: "/bin/sh", args: ["-c", "echo out; echo err >&2"] },
        log: { receiver },
      });
      const containers = [
        container("s", { protocol: "syslog", address: `tcp://127.0.0.1:${port}`, facility: "local3", format: "rfc3164", tag: "{{.Name}}" }),
        container("g", { protocol: "gelf", address: `udp://127.0.0.1:${(datagrams.address() as AddressInfo).port}` }),
        container("f", { protocol: "fluentd", address: `unix://${socket}`, precise: true }),
        container("never", { protocol: "syslog", address: `unix://${socket}.never` }),
      ];
      await http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name: "t", containers }) });
      await until(async () => /"known":"STOPPED"/.test((await http(scene.socket, "GET", "/v1/tasks/t")).text));
      receivers.push(await collect(syslog, { port, host: "127.0.0.1" }), await collect(fluentd, { path: socket }));
      await until(() => Buffer.concat(syslog).toString().split("\n").length > 2);
      // local3 is 19: with the severities info and err.
      const head = (priority: number) => `<${priority}>[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d ${hostname()} t/s\\[\\d+\\]: `;
      expect(Buffer.concat(syslog).toString().split("\n").sort()).toEqual([
        "",
        expect.stringMatching(new RegExp(`^${head(19 * 8 + 3)}err$`)),
        expect.stringMatching(new RegExp(`^${head(19 * 8 + 6)}out$`)),
      ]);
      await until(() => gelf.length >= 2);
      expect(
        gelf
          .map((one) => JSON.parse(gunzipSync(one).toString()))
          .map((one) => [one.level, one.short_message, one._tag])
          .sort(),
      ).toEqual([
        [3, "err", "t/g"],
        [6, "out", "t/g"],
      ]);
      await until(() => Buffer.concat(fluentd).toString("latin1").split("\xa6source").length > 2);
      const text = Buffer.concat(fluentd).toString("latin1");
      // An array of three: the tag, an extension of eight bytes, and a map of four.
      expect([text.slice(0, 7), text.slice(15, 29)]).toEqual(["\x93\xa3t/f\xd7\0", "\x84\xaccontainer_id"]);
      expect(text.match(/\xa6source\xa6std(?:out\xa3log\xa3out|err\xa3log\xa3err)/g)).toHaveLength(2);
      expect((await scene.ctl("delete", "t")).status).toBe(0);
    } finally {
      datagrams.close();
      await leave();
      for (const receiver of receivers) await new Promise((closed) => receiver.close(closed));
    }
  });
});
