import { expect, test } from "vitest";
import type { LogRecord } from "../../engine/index.ts";
import { byTime } from "./log-records.ts";

async function* records(name: string, ...times: string[]): AsyncGenerator<LogRecord> {
  for (const time of times) yield { time, stream: "stdout", isPart: false, bytes: Buffer.from(name) };
}

test("records of several logs in the order of time; a log keeps its own order", async () => {
  const sources = [{ records: records("a", "1", "5", "3") }, { records: records("b") }, { records: records("c", "2", "4") }];
  const seen: string[] = [];
  for await (const { record } of byTime(sources)) seen.push(`${record.bytes} ${record.time}`);
  expect(seen).toEqual(["a 1", "c 2", "c 4", "a 5", "a 3"]);
});
