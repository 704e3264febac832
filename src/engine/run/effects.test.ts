import { expect, test } from "vitest";
import type { TaskRecord } from "../model/index.ts";
import { Effects } from "./effects.ts";

const pullingWith = (signal: AbortSignal) => ({
  cancellable: (_: unknown, __: unknown, action: (signal: AbortSignal) => unknown) => action(signal),
});

test("the message of a failed action is cut before it goes into the record of a task", async () => {
  const check = () => {
    throw new Error("m".repeat(2_000_000), { cause: new Error("c".repeat(2_000_000)) });
  };
  const effects = new Effects({
    resources: [],
    pulling: pullingWith(new AbortController().signal),
    launching: { answered: async () => {}, check },
  } as unknown as ConstructorParameters<typeof Effects>[0]);
  const action = { type: "pull", container: "c", generation: 1, runtimeId: "r" } as const;
  expect(await effects.perform(action, {} as TaskRecord)).toEqual({
    ...{ type: "result", container: "c", generation: 1, target: "PULLED" },
    error: { message: `${"m".repeat(1000)}... (cut after 1000 of 4000002 characters)`, isOutcomeUnknown: false },
  });
});

test("a mount that answers late is told with the task and the container; a stop of the container meanwhile stops no other", async () => {
  const stop = new AbortController();
  const told: unknown[] = [];
  const answered = async (_: unknown, __: unknown, { onLate }: { onLate(message: string): void }) => {
    onLate("/srv does not answer");
    stop.abort(new Error("cancelled"));
    throw stop.signal.reason;
  };
  const effects = new Effects({
    resources: [],
    pulling: pullingWith(stop.signal),
    launching: { answered },
    log: (...words: unknown[]) => told.push(words),
  } as unknown as ConstructorParameters<typeof Effects>[0]);
  const action = { type: "pull", container: "c", generation: 1, runtimeId: "r" } as const;
  expect(await effects.perform(action, { id: "g.t.1" } as TaskRecord)).toMatchObject({
    error: { message: "cancelled", stops: "container" },
  });
  expect(told).toEqual([["error", "mount-waits", { task: "g.t.1", waiting: "c", message: "/srv does not answer" }]]);
});
