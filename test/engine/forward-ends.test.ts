/** The end of `runtctl port-forward`, whatever the daemon and the clients of its port do at that moment. */
import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { FRAME, frameOf } from "../../src/shared/frames/index.ts";
import { talking } from "./answering.ts";
import { RUNTCTL } from "./client-programs.ts";
import { until } from "./requests.ts";

const TASK = JSON.stringify({ id: "t1", name: "t", group: "default", known: "RUNNING", containers: [] });
const UPGRADED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: runtd-stream/1\r\n\r\n";
/** A daemon that has the task t, which is asked for first, and upgrades a connection to its port after a while; never for undefined. */
function daemon(upgradeMs: number | undefined): Promise<string> {
  let count = 0;
  return talking((socket) => {
    if (count++ === 0) socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${TASK.length}\r\n\r\n${TASK}`);
    else if (upgradeMs !== undefined)
      setTimeout(() => socket.write(Buffer.concat([Buffer.from(UPGRADED), frameOf(FRAME.started, Buffer.alloc(0))])), upgradeMs).unref();
  });
}

async function forwarding(socket: string) {
  const [first, ...words] = [...RUNTCTL, "-s", socket, "port-forward", "t", ":7"];
  const child: ChildProcess = spawn(first!, words, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout!.on("data", (chunk) => {
    text += chunk;
  });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => child.once("exit", (status, signal) => resolve(signal ?? status)));
  await until(() => text.includes("->"));
  return { child, ended, port: Number(/:(\d+) ->/.exec(text)?.[1]) };
}

test.each([
  ["is upgraded at once", 0, 50],
  ["is upgraded after the signal", 300, 0],
  ["is never upgraded", undefined, 50],
  ["is about to be upgraded", 20, 20],
] as const)("SIGTERM ends it when a client has just gone, whose connection %s", async (_title, upgradeMs, pauseMs) => {
  for (let round = 0; round < 5; round++) {
    const { child, ended, port } = await forwarding(await daemon(upgradeMs));
    for (const isReset of [false, true]) {
      const local = connect(port, "127.0.0.1");
      local.on("error", () => {});
      await new Promise((resolve) => local.once("connect", resolve));
      local.write("\n");
      if (isReset) local.resetAndDestroy();
      else local.end();
    }
    await sleep(pauseMs);
    child.kill("SIGTERM");
    expect(await Promise.race([ended, sleep(20_000, "it goes on")])).toBe(0);
  }
});
