import { describe, expect, test } from "vitest";
import { countCalls } from "../guard/count-calls.ts";

const OPEN = '7 openat(AT_FDCWD, "/sys/fs/cgroup/c/cgroup.events", O_RDONLY|O_CLOEXEC) = 4';
const READ = ['7 read(4, "populated 1\\nfrozen 1\\n", 4096) = 21', '7 read(4, "", 4075) = 0'];
const WAIT = ["7 poll([{fd=4, events=POLLPRI}], 1, 1000) = 1 ([{fd=4, revents=POLLPRI|POLLERR}])", "7 close(4) = 0", OPEN, ...READ];
const count = (...lines: string[]) => countCalls(lines.join("\n"));

describe("the calls that the guard counts", () => {
  test("do not depend on how often a process waits for its cgroup", () => {
    expect(count(OPEN, ...READ, "7 close(4) = 0")).toBe(4);
    expect(count(OPEN, ...READ, ...WAIT, ...WAIT, "7 close(4) = 0")).toBe(4);
  });

  test("do not depend on how often a process yields", () => {
    expect(count("7 sched_yield() = 0", "7 getpid() = 7")).toBe(1);
  });

  test("are those of all processes, each until it is the container's program", () => {
    expect(count("7 getpid() = 7", '8 execve("/bin/true", ["true"], 0x1) = 0', "8 brk(NULL) = 1", "7 getpid() = 7")).toBe(3);
  });

  test("include a program that could not be executed", () => {
    expect(count('8 execve("/bin/true", ["true"], 0x1) = -1 ENOENT (No such file or directory)', "8 brk(NULL) = 1")).toBe(2);
  });
});
