/** The way of a create through the rooms of src/runtime, up to its first effect: each is entered once. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readTrace, type TraceEvent, type TraceFile } from "../support/chrome-trace.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { enteredAgain, eventsUntil, roomsEntered } from "../support/rooms.ts";

const FIRST_EFFECT = "state.intent";

describe.skipIf(!isRoot || !isRunt)("rooms (needs root)", () => {
  const { bundle, directory, id, ok } = useHarness();

  async function created(): Promise<TraceFile> {
    const file = join(directory, "create.json");
    const path = bundle((config) => shell(config, "sleep 60"), "limited");
    await ok(["--trace", file, "create", "-b", path, id()]);
    return readTrace(file);
  }

  test("create enters each room once before its first effect", async () => {
    const entered = roomsEntered(eventsUntil(await created(), FIRST_EFFECT));
    await expect(`${entered.join("\n")}\n`).toMatchFileSnapshot("../golden/create.rooms");
    expect(enteredAgain(entered)).toEqual([]);
  });

  test("a call back into a room is seen", async () => {
    const events = eventsUntil(await created(), FIRST_EFFECT);
    const back = (room: string): TraceEvent => ({ ...events.at(-1)!, cat: "phase", name: "back", args: { room } });
    const withBackEdge = (room: string, at: number) => enteredAgain(roomsEntered(events.toSpliced(at, 0, back(room))));
    const execute = events.findIndex(({ args }) => args["room"] === "execute");
    expect(withBackEdge("prepare", execute + 1)).toEqual(["prepare", "execute"]);
    expect(withBackEdge("check", execute)).toEqual(["check"]);
    const spec = events.findIndex(({ args }) => args["room"] === "spec");
    expect(withBackEdge("execute", spec + 1)).toContain("prepare");
  });

  test("every span of the runtime has its room, and the stages are marked", async () => {
    const { events } = await created();
    const own = events.filter(({ ph, cat, tid, pid }) => ph === "X" && tid === pid && cat !== "verb" && cat !== "helper");
    expect(own.length).toBeGreaterThan(20);
    expect(own.filter(({ args }) => args["room"] === undefined)).toEqual([]);
    const stages = events.filter(({ cat }) => cat === "stage").map(({ name, args }) => [name, args["room"]]);
    expect(stages).toEqual([
      ["parsed", "spec"],
      ["checked", "prepare"],
      ["planned", "plan"],
    ]);
  });
});
