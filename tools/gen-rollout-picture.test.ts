import { expect, test } from "vitest";
import { rolloutPicture } from "./gen-rollout-picture.ts";

const at = (wallMs: number, data: object) => ({ data: { wallMs, type: "rollout", ...data } });

test("a task is drawn as it starts, serves, keeps its connections or has failed, and the replicas that are ready as a line", () => {
  const svg = rolloutPicture({
    events: [
      at(100, { state: "started", revision: 1 }),
      at(200, { state: "good", replica: "web-0", task: "a" }),
      at(10_000, { state: "started", revision: 2 }),
      at(10_000, { state: "replacing", replica: "web-0", task: "b" }),
      at(11_000, { state: "ready", replica: "web-0", task: "b" }),
      at(12_000, { state: "good", replica: "web-0", task: "b" }),
      at(12_000, { state: "complete" }),
      at(13_000, { type: "removed", task: "a" }),
      at(14_000, { state: "started", revision: 3 }),
      at(14_000, { state: "replacing", replica: "web-0", task: "c" }),
      at(15_000, { state: "failed", replica: "web-0", task: "c" }),
      at(15_000, { state: "rolling-back", revision: 2 }),
      at(15_500, { type: "removed", task: "c" }),
    ],
    samples: [0, 1, 2, 3, 4, 5].map((second) => ({ atMs: 10_000 + second * 1000, ready: second === 2 ? 4 : 3 })),
  });
  const kinds = [...svg.matchAll(/<rect class="(\w+)" x="[\d.]+" y="\d+" width="[\d.]+" height="13"/g)].map(([, kind]) => kind);
  expect(kinds).toEqual(["serving", "draining", "starting", "serving", "starting", "failed"]);
  expect(svg.match(/<polyline class="line" points="([^"]*)"/)![1]!.split(" ").length).toBeGreaterThan(4);
  expect(svg).toContain(">it goes back</text>");
  expect(() => rolloutPicture({ events: [], samples: [] })).toThrow("no two rollouts");
});
