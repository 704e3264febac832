import { expect, test } from "vitest";
import type { ContainerEvent } from "../../verbs/index.ts";
import { EVENTS_HEADING, eventLine } from "./events.ts";

function event(memory: { usage: bigint; limit: bigint }, pids: { current: bigint; limit: bigint }): ContainerEvent {
  const ioServiceBytes = [
    { major: 8n, minor: 0n, op: "Read", value: 1024n },
    { major: 8n, minor: 16n, op: "read", value: 1024n },
    { major: 8n, minor: 0n, op: "Write", value: 10n },
    { major: 8n, minor: 0n, op: "Total", value: 1034n },
  ];
  const stats = { memory: { usage: memory }, cpu: { usage: { total: 1_250_999_999n } }, pids, blkio: { ioServiceBytes } };
  return { type: "stats", stats } as unknown as ContainerEvent;
}
const cells = (line: string) => line.trimEnd().split(/ {2,}/);

test("a line has what the heading names, in units for people", () => {
  expect(cells(EVENTS_HEADING)).toEqual(["MEMORY", "LIMIT", "CPU", "PIDS", "READ", "WRITTEN"]);
  expect(cells(eventLine(event({ usage: 12_897_485n, limit: 64n << 20n }, { current: 3n, limit: 100n })))).toEqual([
    "12.3 MiB",
    "64.0 MiB",
    "1.250 s",
    "3/100",
    "2.0 KiB",
    "10 B",
  ]);
});

test.each([0xffff_ffff_ffff_ffffn, 0x7fff_ffff_ffff_f000n])("the limit %s is none", (limit) => {
  expect(cells(eventLine(event({ usage: 0n, limit }, { current: 1n, limit: 0n }))).slice(0, 4)).toEqual(["0 B", "-", "1.250 s", "1"]);
});

test("a kill for memory has its own line", () => {
  expect(eventLine({ type: "oom" })).toMatch(/^oom: /);
});
