/** The processes that stand on the host for one in a machine and that begin it, against a monitor of the test's own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DATA_MOST, encodeFrame, FrameDecoder } from "../../src/runtime/isolation/channel/frame.ts";
import { isRunt, RUNTIME, useHarness } from "../support/harness.ts";

describe.skipIf(!isRunt)("a process that joins a machine", () => {
  const harness = useHarness();

  /** `serve` gets the connection. */
  async function joined(serve: (socket: Socket) => void) {
    const path = join(harness.directory, "monitor.sock");
    const server = createServer(serve).listen(path);
    await once(server, "listening");
    const env = { RUNT_MACHINE_0: JSON.stringify({ what: "adoption", name: "x", terminal: false }), RUNT_MACHINE_SOCKET: path };
    const child = spawn(RUNTIME, ["machine-join"], { argv0: "runt", env, stdio: ["ignore", "pipe", "pipe"] });
    const output: Buffer[] = [];
    child.stdout.on("data", (bytes: Buffer) => output.push(bytes));
    const [status] = (await once(child, "close")) as [number];
    server.close();
    return { status, stdout: Buffer.concat(output) };
  }

  test("has all output and the status of a program that has ended before, although the monitor takes nothing more", async () => {
    const count = 6;
    const frames = [
      encodeFrame("started", 1),
      ...Array.from({ length: count }, () => encodeFrame("stdout", 1, new Uint8Array(DATA_MOST).fill(0x78))),
      encodeFrame("exit", 1, new Uint8Array([3])),
    ];
    const { status, stdout } = await joined((socket) => socket.write(Buffer.concat(frames), () => socket.destroy()));
    expect(stdout.length).toBe(count * DATA_MOST);
    expect(status).toBe(3);
  });

  test("ends with 125 where the monitor ends without a word", async () => {
    expect((await joined((socket) => socket.destroy())).status).toBe(125);
  });
});

describe.skipIf(!isRunt)("a process that begins one in a machine", () => {
  const harness = useHarness();

  test("says with the first word that another one goes on with it, for a short program may be over before a second", async () => {
    const path = join(harness.directory, "monitor.sock");
    const firsts: string[][] = [];
    const server = createServer((socket) => {
      socket.once("data", (bytes: Buffer) => {
        firsts.push(new FrameDecoder("host").push(bytes).map(({ name }) => name));
        socket.write(encodeFrame("started", 1));
      });
    }).listen(path);
    await once(server, "listening");
    const opening = { what: "exec", id: "container", flags: [], args: ["true"], terminal: false };
    const env = { RUNT_MACHINE_0: JSON.stringify({ opening, name: "exec 1", seconds: 60 }), RUNT_MACHINE_SOCKET: path };
    for (let round = 0; round < 20; round++) {
      const [status] = await once(spawn(RUNTIME, ["machine-begin"], { argv0: "runt", env, stdio: "ignore" }), "close");
      expect(status).toBe(0);
    }
    server.close();
    expect(firsts).toEqual(firsts.map(() => ["open", "keep"]));
  });
});
