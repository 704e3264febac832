import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { ExecHandle, SpawnRequest } from "../../../executor/index.ts";
import { probeTcp } from "../../health/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { type RelayOptions, relayOf } from "./relays.ts";

/** A container in a machine, in which a further process ends with this status, having said this; undefined: it does not end by itself. */
function scene(status: number | undefined, said = "") {
  const asked: SpawnRequest[] = [];
  let kills = 0;
  let end: (end: { exitCode: number; timedOut: boolean }) => void = () => {};
  const spawn = async (_: string, request: SpawnRequest) => {
    asked.push(request);
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const ended = new Promise((resolve) => (end = resolve));
    const finish = (exitCode: number) => {
      for (const stream of [stdout, stderr]) stream.end(stream === stderr ? said : "");
      end({ exitCode, timedOut: false });
    };
    if (status !== undefined) finish(status);
    const kill = async () => {
      kills++;
      if (status === undefined) finish(137);
    };
    return { stdin, stdout, stderr, wait: () => ended, kill } as unknown as ExecHandle;
  };
  const options = {
    ...{ runtimes: { vm: "/usr/bin/runt-vm" }, networks: { placement: () => ({ path: "/nowhere", files: "" }) } },
    runtime: { binary: "/usr/bin/runt", find: async () => ({ state: "running", process: { pid: 1 } }), spawn },
  } as unknown as RelayOptions;
  const record = { id: "t", spec: { runtime: "vm", network: { mode: "bridge" }, namespaces: {} } } as unknown as TaskRecord;
  return { asked, kills: () => kills, start: async () => (await relayOf(record, "t.c.1", options))! };
}

const CHECK = { port: 80, address: "127.0.0.1" };

test("E28: a connection to a container in a machine begins there, as a further process of the container", async () => {
  const { asked, start } = scene(0);
  expect(await probeTcp(CHECK, { start: await start(), timeoutMs: 5000 })).toEqual({ isHealthy: true, output: "" });
  expect(asked).toEqual([{ cmd: "/dev/runt-pause", args: ["reach", "-", "127.0.0.1", "80"], stdio: { stdin: "pipe" }, deadlineMs: 5000 }]);
});

test("E28: what it says of a port on which nobody listens is the result", async () => {
  const { start } = scene(1, "connect to 127.0.0.1: Connection refused\n");
  const output = "connect to 127.0.0.1: Connection refused";
  expect(await probeTcp(CHECK, { start: await start(), timeoutMs: 5000 })).toEqual({ isHealthy: false, output });
});

test("E28: one that gets no answer is killed when its time is over", async () => {
  const { start, kills } = scene(undefined);
  expect(await probeTcp(CHECK, { start: await start(), timeoutMs: 50 })).toEqual({ isHealthy: false, output: "no answer within 50 ms" });
  expect(kills()).toBe(1);
});
