import { expect, test } from "vitest";
import type { z } from "zod";
import type { EngineEvent } from "../../engine/index.ts";
import { engineEvent } from "./event.ts";

type Fixed<T> = T extends object ? { readonly [K in keyof T]: Fixed<T[K]> } : T;

/** Compile-time check: every event of the engine fits the schema. */
const described = (event: EngineEvent): Fixed<z.output<typeof engineEvent>> => event;

test("an event with a reason that has a reason", () => {
  const event: EngineEvent = {
    type: "task",
    task: "t",
    group: "g",
    name: "n",
    wallMs: 1,
    known: "STOPPED",
    desired: "STOPPED",
    reason: { code: "EssentialContainerExited", text: "a", cause: { code: "OutOfMemory", text: "b" } },
  };
  expect(engineEvent.parse(described(event))).toEqual(event);
  expect(engineEvent.safeParse({ ...event, secret: 1 }).success).toBe(false);
});
