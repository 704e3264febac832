import { expect, test } from "vitest";
import type { TaskRecord } from "../model/index.ts";
import { Effects } from "./effects.ts";

test("the message of a failed action is cut before it goes into the record of a task", async () => {
  const check = () => {
    throw new Error("m".repeat(2_000_000), { cause: new Error("c".repeat(2_000_000)) });
  };
  const effects = new Effects({ resources: [], launching: { answered: async () => {}, check } } as unknown as ConstructorParameters<
    typeof Effects
  >[0]);
  const action = { type: "pull", container: "c", generation: 1, runtimeId: "r" } as const;
  expect(await effects.perform(action, {} as TaskRecord)).toEqual({
    ...{ type: "result", container: "c", generation: 1, target: "PULLED" },
    error: { message: `${"m".repeat(1000)}... (cut after 1000 of 4000002 characters)`, isOutcomeUnknown: false },
  });
});
