/** Files that wait behind one that exceeds its limits. */
import { EventEmitter } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { Limits } from "./answer.ts";
import { Files } from "./files.ts";

const LIMITS: Limits = { processorMs: 60_000, clockMs: 60_000, memoryMib: 64 };
const GOOD = { parsed: { tasks: [], findings: [] } };
/** Runs the path of a watched file as its program. */
const THREAD = `const { parentPort } = require("node:worker_threads");
  parentPort.postMessage({ thread: require("node:fs").readlinkSync("/proc/thread-self").split("/").at(-1) });
  parentPort.on("message", ({ watched }) => { eval(watched); parentPort.postMessage({ watched: ${JSON.stringify(GOOD)} }); });`;

const files = (limits: Partial<Limits> = {}) =>
  new Files({ limits: { ...LIMITS, ...limits }, start: () => new Worker(THREAD, { eval: true }) });
const read = (of: Files, text: string) => of.readWatched(text, {} as never);

test("a file that takes too long is refused alone: the one behind it gets another thread", async () => {
  const some = files({ processorMs: 300 });
  const [long, next] = await Promise.allSettled([read(some, "for (;;);"), read(some, "")]);
  expect(long).toMatchObject({ reason: { message: "reading the file takes longer than 0.3 s of processor time" } });
  expect(next).toMatchObject({ status: "fulfilled", value: GOOD });
});

/** A thread that reads an empty file, waits in the kernel for any other, and then cannot be ended. */
class Stuck extends EventEmitter {
  ref = () => this;
  unref = () => this;
  terminate = () => new Promise<number>(() => {});

  postMessage({ watched }: { readonly watched: string }): void {
    if (watched === "") setImmediate(() => this.emit("message", { watched: GOOD }));
  }
}

test("a thread that waits in the kernel refuses its file only; when several do, the next file is refused at once", async () => {
  const threads: Stuck[] = [];
  const some = new Files({
    limits: { ...LIMITS, clockMs: 1 },
    start() {
      threads.push(new Stuck());
      return threads.at(-1) as unknown as Worker;
    },
  });
  const stuck = () => expect(read(some, "of a server that does not answer")).rejects.toThrow("takes longer than 0.001 s");
  await stuck();
  expect(await read(some, "")).toEqual(GOOD);
  for (let more = 0; more < 3; more++) await stuck();
  await expect(read(some, "")).rejects.toThrow("4 threads that have read others wait in the kernel and do not end");
  threads[0]!.emit("exit", 1);
  expect(await read(some, "")).toEqual(GOOD);
  expect(threads).toHaveLength(5);
});
