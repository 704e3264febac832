/** Fluentd's forward protocol with acknowledgements, a shared key and routers in containers, also with receivers that are dead or hostile. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ForwardReceiver, type ReceiverManners } from "../support/engine/forward-receiver.ts";
import { namesBelow } from "./names-below.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const COUNT = 500;
const numbers = Array.from({ length: COUNT }, (_, at) => `line ${at + 1}`);
const PRINT = `i=0; while [ $i -lt ${COUNT} ]; do i=$((i+1)); echo line $i; done`;

describe.skipIf(!isRoot)("the forward protocol of Fluentd (needs root)", () => {
  const scene = useEngine();
  const apply = (containers: readonly object[], more: object = {}) =>
    http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name: "t", containers, ...more }) });
  const printing = (fields: object, script = PRINT) => ({
    name: "app",
    rootfs: scene.rootfs(),
    command: "/bin/sh",
    args: ["-c", script],
    ...fields,
  });
  const isStopped = async () => /"known":"STOPPED"/.test((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const listening = async (path: string, manners: ReceiverManners) => {
    const receiver = new ForwardReceiver(manners);
    await receiver.listen({ path });
    return receiver;
  };
  /** Each line once, in order: a chunk that was not acknowledged comes again as a whole. */
  const distinct = (lines: readonly string[]) => lines.filter((line, at) => lines.indexOf(line) === at);

  test("E53: a container runs and ends beside a receiver that is dead, then hostile, then knows another key; the right one gets all lines in order", async () => {
    await scene.daemon();
    const path = join(scene.directory, "fluent.sock");
    const sharedKeyFile = scene.file("key", "s3cr3t\n");
    const receiver = { protocol: "fluentd", address: `unix://${path}`, ack: true, sharedKeyFile, fields: { team: "shop" } };
    await apply([printing({ log: { receiver } })]);
    await until(isStopped);
    const hostile = await listening(path, {
      greet: (socket, count) => {
        if (count % 2 === 0) socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
        else socket.destroy();
        return true;
      },
    });
    await until(() => hostile.connections > 3);
    await hostile.close();
    const stranger = await listening(path, { key: "guess" });
    await until(() => stranger.connections > 1);
    expect(stranger.received).toEqual([]);
    await stranger.close();
    let left = 2;
    const right = await listening(path, {
      key: "s3cr3t",
      answer: (chunk, socket) => {
        // It takes the first chunk, and goes without a word.
        if (left-- > 1) socket.destroy();
        else
          socket.write(
            Buffer.concat([Buffer.from([0x81, 0xa3]), Buffer.from("ack"), Buffer.from([0xa0 | chunk.length]), Buffer.from(chunk)]),
          );
      },
    });
    await until(() => distinct(right.lines()).length >= COUNT);
    expect(distinct(right.lines())).toEqual(numbers);
    expect(right.faults).toEqual([]);
    expect(right.received[0]).toMatchObject({ tag: "t/app", record: { source: "stdout", team: "shop", container_name: "/app" } });
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    await right.close();
  });

  test("E52: a router with the forward protocol gets chunks on its socket, and acknowledges them", async () => {
    await scene.daemon();
    const router = {
      name: "router",
      rootfs: scene.rootfs(),
      command: "/bin/sh",
      args: ["-c", SLEEP],
      logRouter: "forward",
      stopSignal: "SIGKILL",
    };
    const app = printing({ log: { router: "router", tag: "own" } }, `${PRINT}; ${SLEEP}`);
    await apply([{ ...app, stopSignal: "SIGKILL" }, router], { namespaces: { network: "shared" } });
    const socket = () => {
      const volumes = join(scene.directory, "state");
      return namesBelow(volumes).find((name) => /\.log-router$/.test(name) && statSync(join(volumes, name)).isDirectory());
    };
    // What an earlier router has left is removed before the router starts.
    await until(async () => /"known":"RUNNING"/.test((await http(scene.socket, "GET", "/v1/tasks/t")).text));
    const receiver = await listening(join(scene.directory, "state", socket()!, "router.sock"), {});
    await until(() => receiver.lines().length >= COUNT);
    expect(receiver.lines()).toEqual(numbers);
    expect(receiver.received[0]).toMatchObject({ tag: "own", record: { task: "t", container: "app", group: "default", source: "stdout" } });
    expect(receiver.faults).toEqual([]);
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    await receiver.close();
  });
});
