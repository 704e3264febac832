import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test } from "vitest";
import { answerOf, type Limits } from "./answer.ts";

const LIMITS: Limits = { processorMs: 10_000, clockMs: 60_000, memoryMib: 64 };
const BEGIN = `const { parentPort } = require("node:worker_threads"); const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  const spin = (ms) => { let x = 0; const end = performance.now() + ms; while (performance.now() < end) x++; };
  parentPort.postMessage({ thread: require("node:fs").readlinkSync("/proc/thread-self").split("/").at(-1) });
  parentPort.on("message", ({ text }) => { eval(text); parentPort.postMessage({ failure: "done" }); });`;

describe("the thread that parses files", () => {
  let worker: Worker | undefined;
  afterEach(async () => {
    await worker?.terminate();
    worker = undefined;
  });
  const ask = (text: string, limits: Partial<Limits>) => {
    worker ??= new Worker(BEGIN, { eval: true });
    return answerOf(worker, { text, host: {} as never }, { ...LIMITS, ...limits });
  };

  test("may wait longer for a processor than it may use one", async () => {
    expect(await ask("wait(1500)", { processorMs: 1000 })).toEqual({ failure: "done" });
  });

  test("has the processor time of one file, not of all of them", async () => {
    for (let file = 0; file < 4; file++) expect(await ask("spin(300)", { processorMs: 1000 })).toEqual({ failure: "done" });
  });

  test("has no answer after its processor time", async () => {
    expect(await ask("for (;;);", { processorMs: 200 })).toBe("reading the file takes longer than 0.2 s of processor time");
  });

  test("has no answer when it waits for ever", async () => {
    expect(await ask("wait(1e9)", { clockMs: 500 })).toBe("reading the file takes longer than 0.5 s");
  });

  test("says when it has ended by itself", async () => {
    expect(await ask("process.exit()", {})).toBe("the file cannot be read: the thread that reads it has ended");
  });
});
