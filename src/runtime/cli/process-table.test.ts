import { describe, expect, it } from "vitest";
import { PROCESS_HEADING, processLine } from "./process-table.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const booted = Date.UTC(2026, 10, 24, 8, 0, 0);
const clock = { now: booted + 2 * HOUR, booted };
const stat = (name: string, { terminal = 0, used = 0, started = 0 }) =>
  `7 (${name}) S 1 7 7 ${terminal} -1 4194560 0 0 0 0 ${used} ${used} 0 0 20 0 1 0 ${started} 0 0`;

describe("a row of ps", () => {
  it("has the columns of ps -ef", () => {
    expect(PROCESS_HEADING).toBe("UID          PID    PPID  C STIME TTY          TIME CMD");
    const files = { pid: 7, uid: 0, stat: stat("sh", { used: 36_000, started: 6000 }), cmdline: "/bin/sh\0-c\0sleep 5\0" };
    expect(processLine(files, "root", clock)).toBe("root           7       1 10 08:01 ?        00:12:00 /bin/sh -c sleep 5");
  });

  it("names a terminal, and in brackets what has no words, whatever its name is", () => {
    const files = { pid: 7, uid: 0, stat: stat("a) R 9 (b", { terminal: 0x8803 }), cmdline: "" };
    expect(processLine(files, "#1000", clock)).toBe("#1000          7       1  0 08:00 pts/3    00:00:00 [a) R 9 (b]");
  });

  it("has the day of a process that began before today", () => {
    const files = { pid: 7, uid: 0, stat: stat("sh", {}), cmdline: "sh\0" };
    expect(processLine(files, "root", { booted, now: booted + 24 * HOUR })).toContain(" Nov24 ");
  });
});
