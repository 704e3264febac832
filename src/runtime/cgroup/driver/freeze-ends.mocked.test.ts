/** A freeze that does not come to its end is taken back, whatever has ended it. */
import { beforeEach, expect, it, vi } from "vitest";

const written: string[] = [];
let endsWaits = false;
let now = 0;
let state = "";
/** What happens in a wait. */
let waited: () => void = () => {};

const interrupted = () => {
  throw Object.assign(new Error("poll: interrupted"), { errno: 4, code: "EINTR" });
};

vi.mock("../../host/index.ts", () => ({
  O: { RDONLY: 0, WRONLY: 1 },
  access: () => true,
  blockSignals: () => {},
  close: () => {},
  endWaitsBySignal(on: boolean) {
    endsWaits = on;
  },
  getxattr: () => undefined,
  isErrno: (error: { code?: string }, ...codes: readonly string[]) => codes.includes(error.code ?? ""),
  monotonic: () => now,
  open: () => 3,
  poll(_fds: unknown, _events: unknown, milliseconds: number) {
    now += milliseconds;
    waited();
    return [];
  },
  readFd: () => "populated 1\nfrozen 0\n",
  readFile: () => `${state}\n`,
  readLine: () => "0",
  writeFile(path: string, text: string) {
    if (text === "THAWED" || text === "0") expect(endsWaits).toBe(false);
    written.push(`${path.slice(path.lastIndexOf("/") + 1)} ${text}`);
  },
}));

const { freeze } = await import("./freeze.ts");

const OWNER = { mark: { id: "c" }, init: () => 0 };
const V1 = { version: 1, paths: ["/cpu/x", "/freezer/x"] } as const;
const V2 = { version: 2, paths: ["/x"] } as const;
const VERSIONS = [
  ["v1", V1, "freezer.state FROZEN", "freezer.state THAWED"],
  ["v2", V2, "cgroup.freeze 1", "cgroup.freeze 0"],
] as const;

beforeEach(() => {
  written.splice(0);
  endsWaits = false;
  now = 0;
  state = "FREEZING";
  waited = () => {};
});

it.each(VERSIONS)("%s: when not every process stops", (_, cgroup, first, last) => {
  expect(() => freeze(cgroup, OWNER)).toThrow("not every process of the container has stopped within 10 seconds; all run again");
  expect(now).toBeGreaterThanOrEqual(10_000);
  expect(now).toBeLessThan(10_100);
  expect([written[0], written.at(-1)]).toEqual([first, last]);
});

it.each(VERSIONS)("%s: when a signal ends the wait, which no later wait hears of", (_, cgroup, first, last) => {
  waited = interrupted;
  expect(() => freeze(cgroup, OWNER)).toThrow("interrupted");
  expect([written[0], written.at(-1), written.length, endsWaits]).toEqual([first, last, 2, false]);
});

it("v1: FREEZING is written again, and what is frozen stays so", () => {
  waited = () => {
    state = "FROZEN";
  };
  freeze(V1, OWNER);
  expect([written, endsWaits]).toEqual([["freezer.state FROZEN", "freezer.state FROZEN"], false]);
});
