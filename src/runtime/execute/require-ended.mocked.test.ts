import { beforeEach, expect, it, vi } from "vitest";

/** By path: /proc/PID/stat, or the code of the error. */
const files = new Map<string, string>();

vi.mock("../host/index.ts", () => ({
  readFile(path: string) {
    const text = files.get(path) ?? "ENOENT";
    if (!text.includes(" ")) throw Object.assign(new Error(text), { errno: text });
    return text;
  },
  isErrno: (error: { errno?: string }, ...codes: string[]) => codes.includes(error.errno ?? ""),
}));

const { requireEnded } = await import("./require-ended.ts");

const left = (...stuck: number[]) => ({ stuck, others: [], unseen: 0 });
const stat = (pid: number, name: string, flags: number) => files.set(`/proc/${pid}/stat`, `${pid} (${name}) S 1 2 3 0 -1 ${flags} 99 0`);

beforeEach(() => files.clear());

it("names who has not begun to end, and nobody who is ending or gone", () => {
  stat(1, "init", 0x40_01_04);
  stat(2, "a) S 1 (", 0x40_00_04);
  files.set("/proc/4/stat", "ESRCH");
  expect(() => requireEnded(left(1, 2, 3, 4))).not.toThrow();
  stat(5, "sleep", 0x40_01_00);
  stat(6, "b ) S 4 4 4 4 4 4", 0x40_00_40);
  expect(() => requireEnded(left(1, 5, 6))).toThrow(/^still there after SIGKILL: 5 6$/);
  expect(() => requireEnded(left(5), "--cgroup x: ")).toThrow(/^--cgroup x: still there after SIGKILL: 5$/);
});

it("passes on what it cannot read", () => {
  files.set("/proc/7/stat", "EIO");
  expect(() => requireEnded(left(7))).toThrow("EIO");
});
