/** A log file as somebody else would read it, who knows its format only. */
import { existsSync, readFileSync } from "node:fs";

export interface LogRecord {
  readonly time: string;
  readonly stream: string;
  readonly isPart: boolean;
  readonly bytes: string;
}

const RECORD = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) (stdout|stderr|runt) ([FP]) (.*)$/s;

/** Paths of a log and of what was rotated, the oldest first. */
export function logFiles(path: string): string[] {
  const files = [path];
  for (let number = 1; existsSync(`${path}.${number}`); number++) files.unshift(`${path}.${number}`);
  return files;
}

/** Bytes are characters from 0 to 255. @throws Error: what is no record */
export function logRecords(path: string): LogRecord[] {
  return logFiles(path).flatMap((file) => {
    const text = readFileSync(file, "latin1");
    if (text !== "" && !text.endsWith("\n")) throw new Error(`${file} has no newline at its end`);
    return text.split("\n").slice(0, -1).map(recordOf);
  });
}

function recordOf(line: string): LogRecord {
  const [, time, stream, kind, bytes] = RECORD.exec(line) ?? [];
  if (time === undefined) throw new Error(`no record: ${JSON.stringify(line.slice(0, 200))}`);
  return { time, stream: stream!, isPart: kind === "P", bytes: bytes! };
}

/** What a stream has printed, byte for byte. */
export function printed(path: string, stream: string): string {
  return textOf(logRecords(path).filter((record) => record.stream === stream));
}

/** What all streams have printed, in the order of the log; "" when there is none. */
export function allPrinted(path: string): string {
  return existsSync(path) ? textOf(logRecords(path)) : "";
}

function textOf(records: readonly LogRecord[]): string {
  return records.map(({ bytes, isPart }) => (isPart ? bytes : `${bytes}\n`)).join("");
}
