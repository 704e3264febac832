/** A look at the cgroups may take longer than the time in which the processes have to end. */
import { beforeEach, expect, it, vi } from "vitest";

const LOOK_MS = 6_000;
const PID = 42;

let now = 0;
let deafTo = 0;
const signals: number[] = [];

vi.mock("../../host/index.ts", () => ({
  SIGNALS: { KILL: 9, TERM: 15 },
  ACCESS: { EXIST: 0 },
  monotonic: () => now,
  O: { WRONLY: 1 },
  access: () => true,
  writeFile: () => {},
  walk: () => {},
  isErrno: () => false,
  sleep(milliseconds: number) {
    now += milliseconds;
  },
}));
vi.mock("./freeze.ts", () => ({ freezeFile: () => undefined, isFrozen: () => false }));
vi.mock("./exec-join.ts", () => ({ wantedDirectories: () => ["/x/job"] }));
vi.mock("./signal.ts", () => ({
  signalListed(_pids: readonly number[], signal: number) {
    signals.push(signal);
  },
}));
vi.mock("./survey.ts", () => ({
  survey() {
    now += LOOK_MS;
    const own = new Set(signals.length > deafTo ? [] : [PID]);
    return { standing: new Map([["/x", "own"]]), own, others: new Set(), unseen: { own: 0, others: 0 } };
  },
}));
vi.mock("./processes.ts", () => ({
  ascending: (pids: Iterable<number>) => [...pids],
  census: () => ({ pids: new Set([PID]), unseen: 0, failure: undefined }),
}));

const { killCgroup } = await import("./kill.ts");
const { signalBelow } = await import("./below.ts");

const CGROUP = { version: 1, paths: ["/x"] } as never;
const OWNER = { mark: { id: "c" }, init: () => 0 };

beforeEach(() => {
  now = 0;
  signals.splice(0);
});

it.each([
  ["killCgroup", () => killCgroup(CGROUP, OWNER)],
  ["signalBelow", () => signalBelow(CGROUP, OWNER, "job", 9)],
])("%s signals however long a look takes, and names who is left a look later", (_, kill) => {
  deafTo = 0;
  expect(kill()).toEqual({ stuck: [], others: [], unseen: 0 });
  expect(signals).toEqual([9]);

  signals.splice(0);
  deafTo = Number.POSITIVE_INFINITY;
  expect(kill()).toEqual({ stuck: [PID], others: [], unseen: 0 });
  expect(signals).toEqual([9]);
});
