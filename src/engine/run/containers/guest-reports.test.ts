import { afterEach, describe, expect, it, vi } from "vitest";
import type { TaskRecord } from "../../model/index.ts";
import { GuestReports } from "./guest-reports.ts";

afterEach(() => void vi.useRealTimers());

const task = (name: string, containers: readonly (readonly [type: string, known: string, runtimeId: string])[]): TaskRecord =>
  ({ group: "g", name, containers: containers.map(([type, known, runtimeId]) => ({ type, known, runtimeId })) }) as unknown as TaskRecord;

const answer = (numbers: object): string => JSON.stringify([{ labels: {}, numbers }]);

describe("what the guests of tasks say", () => {
  it("is asked of the container that has booted the machine, and only of tasks in machines", async () => {
    const asked: string[] = [];
    const reports = new GuestReports({
      isInMachine: ({ name }) => name !== "host",
      ask: async (id) => {
        asked.push(id);
        return answer({ uptime_seconds: 5, other: 1 });
      },
    });
    const tasks = [
      task("host", [["normal", "RUNNING", "h"]]),
      task("pod", [
        ["normal", "RUNNING", "one"],
        ["namespacePause", "RUNNING", "pause"],
      ]),
      task("single", [["normal", "RUNNING", "only"]]),
      task("ended", [["normal", "STOPPED", "gone"]]),
    ];
    expect(await reports.read(tasks)).toEqual([
      { labels: { group: "g", task: "pod" }, numbers: { uptime_seconds: 5 } },
      { labels: { group: "g", task: "single" }, numbers: { uptime_seconds: 5 } },
    ]);
    expect(asked).toEqual(["pause", "only"]);
  });

  it("has an end for a guest that never answers, which is not asked twice, and for nonsense", async () => {
    vi.useFakeTimers();
    let count = 0;
    const reports = new GuestReports({
      isInMachine: () => true,
      ask: (id) => {
        count++;
        if (id === "error") return Promise.reject(new Error("gone"));
        return id === "silent" ? new Promise<string>(() => {}) : Promise.resolve("nonsense");
      },
    });
    const tasks = ["silent", "error", "nonsense"].map((id) => task(id, [["normal", "RUNNING", id]]));
    for (let round = 0; round < 2; round++) {
      const read = reports.read(tasks);
      await vi.advanceTimersByTimeAsync(8_000);
      expect((await read).map(({ numbers }) => numbers)).toEqual([undefined, undefined, undefined]);
    }
    expect(count).toBe(5);
  });
});
