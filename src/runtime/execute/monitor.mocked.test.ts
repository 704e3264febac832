/** What the caller names may be replaced while it is looked at: nothing but a FIFO is opened for reading and writing. */
import { beforeEach, expect, it, vi } from "vitest";

const PATH = 0o10_000_000;
const [FIFO, DEVICE] = [0o010_000, 0o020_000];
const opened: unknown[] = [];
const closed: number[] = [];
/** What is at the path when it is looked at by name, and when it is opened. */
let [named, held] = [FIFO, FIFO];

vi.mock("../host/index.ts", () => ({
  O: { PATH, RDWR: 2, NONBLOCK: 0o4000, NOCTTY: 0o400 },
  S: { IFMT: 0o170_000, IFIFO: FIFO },
  close: (fd: number) => closed.push(fd),
  fstat: () => ({ mode: held | 0o600 }),
  open: (path: string, flags: number) => 10 + opened.push([path, flags === PATH ? "path" : "both ends"]),
  reason: () => "",
  stat: () => ({ mode: named | 0o600 }),
}));
vi.mock("../cgroup/index.ts", () => ({}));
vi.mock("../state/index.ts", () => ({}));
vi.mock("./pidfd.ts", () => ({}));

const { openFifo } = await import("./monitor.ts");

beforeEach(() => {
  opened.splice(0);
  closed.splice(0);
  [named, held] = [FIFO, FIFO];
});

it("opens the FIFO that it has looked at, and no other file of that name", () => {
  expect(openFifo("--resize-fifo", "/of/the/caller")).toBe(12);
  expect([opened, closed]).toEqual([
    [
      ["/of/the/caller", "path"],
      ["/proc/self/fd/11", "both ends"],
    ],
    [11],
  ]);
});

it("does not open a device that is there by then", () => {
  held = DEVICE;
  expect(() => openFifo("--resize-fifo", "/of/the/caller")).toThrow("--resize-fifo /of/the/caller: no FIFO");
  expect([opened, closed]).toEqual([[["/of/the/caller", "path"]], [11]]);
});
