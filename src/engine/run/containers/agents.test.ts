import { expect, test } from "vitest";
import { until } from "../../../../test/engine/requests.ts";
import { ExecutorError, ProgramError } from "../../../executor/index.ts";
import { newRecord, type TaskRecord } from "../../model/index.ts";
import { taskSchema } from "../../spec/index.ts";
import type { Happening } from "../mailbox.ts";
import { Agents } from "./agents.ts";

const at = { bootId: "b", bootMs: 0, wallMs: 0 };
const backoff = { initial: "20ms", maximum: "80ms" };
const spec = taskSchema.parse({
  name: "t",
  containers: [{ name: "c", rootfs: "/r", command: "x", agents: [{ name: "side", command: ["/side", "-v"], env: { A: "b" }, backoff }] }],
});

/** A task with one running container. `run` gives the result of each start of its agent. */
function supervised(run: (count: number) => Promise<{ exitCode: number | null; timedOut: boolean }>) {
  const first = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at });
  let record: TaskRecord = { ...first, containers: first.containers.map((one) => ({ ...one, known: "RUNNING" })) };
  const records = new Map([[record.id, record]]);
  const told: Extract<Happening, { type: "agent" }>["agent"][] = [];
  const started: { readonly at: number; readonly request: object }[] = [];
  const agents = new Agents({
    records,
    runtime: {
      async spawn(_, request) {
        started.push({ at: performance.now(), request });
        const end = run(started.length);
        return { pid: 100 + started.length, wait: () => end };
      },
    },
    mailbox: { post: (_, happening) => void told.push((happening as Extract<Happening, { type: "agent" }>).agent) },
  });
  return {
    agents,
    told,
    started,
    change(how: Partial<TaskRecord["containers"][number]>) {
      record = { ...record, containers: record.containers.map((one) => ({ ...one, ...how })) };
      records.set(record.id, record);
      agents.refresh();
    },
  };
}

test("E66 E86: an agent is started once its container runs, and again after each end, later and later; each is told", async () => {
  const scene = supervised(async () => ({ exitCode: 3, timedOut: false }));
  scene.agents.refresh();
  scene.agents.refresh();
  await until(() => scene.started.length >= 4);
  scene.agents.stop();
  expect(scene.started[0]!.request).toMatchObject({ cmd: "/side", args: ["-v"], env: { A: "b" } });
  expect(scene.told.slice(0, 4)).toEqual([
    { name: "side", known: "RUNNING", pid: 101, restarts: 0, reason: null },
    { name: "side", known: "STOPPED", pid: null, restarts: 0, reason: "it has ended with 3" },
    { name: "side", known: "RUNNING", pid: 102, restarts: 1, reason: null },
    { name: "side", known: "STOPPED", pid: null, restarts: 1, reason: "it has ended with 3" },
  ]);
  const waits = scene.started.slice(1).map((one, index) => one.at - scene.started[index]!.at);
  for (const [index, least] of [20, 40, 80].entries()) expect(waits[index]).toBeGreaterThanOrEqual(least - 2);
});

test("E58: a program that is not there is told, and not tried again; what else goes wrong is", async () => {
  const missing = supervised(async () => {
    throw new ProgramError("there is no /side", { reason: "not-found", program: "/side", verb: "exec", exitCode: 127 });
  });
  missing.agents.refresh();
  await until(() => missing.told.some(({ known }) => known === "STOPPED"));
  await new Promise((resolve) => setTimeout(resolve, 60));
  missing.agents.refresh();
  expect(missing.started).toHaveLength(1);
  expect(missing.told.at(-1)).toMatchObject({ known: "STOPPED", pid: null, reason: expect.stringContaining("/side") });
  const busy = supervised(async (count) => {
    if (count === 1) throw new ExecutorError("wrong-state", "not now");
    return new Promise(() => {});
  });
  busy.agents.refresh();
  await until(() => busy.told.at(-1)?.pid === 102);
  busy.agents.stop();
});

test("E86: with its container it is left alone, and the next incarnation has one of its own", async () => {
  const scene = supervised(() => new Promise(() => {}));
  scene.agents.refresh();
  await until(() => scene.told.length === 1);
  scene.change({ desired: "STOPPED" });
  scene.change({ known: "STOPPED" });
  expect(scene.started).toHaveLength(1);
  scene.change({ known: "RUNNING", desired: "RUNNING", generation: 2, runtimeId: "other" });
  await until(() => scene.told.length === 2);
  expect(scene.told[1]).toMatchObject({ pid: 102, restarts: 0 });
  scene.agents.stop();
});
