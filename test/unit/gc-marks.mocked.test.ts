/** Between the second look and the removal another create may make the cgroup anew: of another state root, nothing keeps it from that. */
import { beforeEach, expect, it, vi } from "vitest";

const MARK = { root: "/r", id: "c", directory: "8:1", created: "2026-01-01T00:00:00Z", unit: "runt-c.scope" };
const PATH = "/sys/fs/cgroup/x";
const MARKING = { root: MARK.root, id: MARK.id, directory: MARK.directory, created: MARK.created };

/** The mark that is on the cgroup when it is to be removed. */
let present: object | undefined = MARK;
const acts: unknown[] = [];

vi.mock("../../src/runtime/diagnostics/gc/look.ts", () => ({
  look: () => ({
    remains: [
      { key: "k", kind: "cgroup", id: "c", paths: [PATH], kept: [], unit: MARK.unit, marking: MARKING, reason: "its state is lost" },
    ],
    kept: [],
    otherRoots: [],
  }),
  tryLock: () => undefined,
}));
vi.mock("../../src/runtime/cgroup/index.ts", async () => ({
  cgroupCensus: () => ({ pids: new Set(), unseen: 0 }),
  deleteCgroup: (...asked: readonly unknown[]) => acts.push(["delete", asked[1]]),
  deleteEmptyLevel: () => {},
  whoseAre: (await import("../../src/runtime/cgroup/driver/whose.ts")).whoseAre,
}));
vi.mock("../../src/runtime/cgroup/systemd/index.ts", () => ({ stopUnit: ({ unit }: { unit: string }) => acts.push(["stop", unit]) }));
vi.mock("../../src/runtime/execute/index.ts", () => ({}));
vi.mock("../../src/runtime/prepare/index.ts", () => ({ LIVE: { cgroups: () => ({ version: 2 }), systemd: () => ({}) } }));
vi.mock("../../src/runtime/state/index.ts", () => ({
  lookAtRoot: () => ({}),
  reserve: () => 3,
  removeDirectory: () => {},
  removeRoot: () => {},
}));
vi.mock("../../src/runtime/host/index.ts", () => ({
  close: () => {},
  sleep: () => {},
  stat: () => undefined,
  isErrno: () => false,
  getxattr: (_: string, name: string) => (present && name.startsWith("trusted") ? JSON.stringify(present) : undefined),
}));

const { collect } = await import("../../src/runtime/diagnostics/gc/index.ts");
const outcomes = () => collect({ root: "/r", rootless: false } as never, false).objects.map(({ outcome, reason }) => [outcome, reason]);

beforeEach(() => {
  present = MARK;
  acts.splice(0);
});

it("removes what still has the mark that was found", () => {
  expect(outcomes()).toEqual([["removed", "its state is lost"]]);
  expect(acts).toEqual([
    ["stop", MARK.unit],
    ["delete", { mark: MARKING, init: expect.any(Function) }],
  ]);
});

it.each([
  ["of another state root", { root: "/other", directory: "8:2" }],
  ["of another container with its id", { created: "2026-02-02T00:00:00Z" }],
  ["of another id", { id: "d" }],
])("leaves what has the mark of a container %s by now, and its unit", (_, change) => {
  present = { ...MARK, ...change };
  expect(outcomes()).toEqual([["kept", "in use again"]]);
  expect(acts).toEqual([]);
});

it("leaves what was made anew and has no mark yet", () => {
  present = undefined;
  expect(outcomes()).toEqual([["kept", "in use again"]]);
  expect(acts).toEqual([]);
});
