import { expect, test } from "vitest";
import { parseTasks } from "./parse.ts";
import { rhythmOf, scheduleError } from "./schedule.ts";

test.each([
  ["* * * * *", "* * * * *"],
  ["*/15 0-3 1,15 jan-MAR mon", "0,15,30,45 0,1,2,3 1,15 1,2,3 1"],
  ["5/20 ? * * ?", "5,25,45 * * * *"],
  ["0 0 */10 * 1", "0 0 1,11,21,31 * 1"],
  ["0 8-18/5 * * *", "0 8,13,18 * * *"],
  ["  0   3 * * * ", "0 3 * * *"],
  ["1,* * * * *", "* * * * *"],
  ["@hourly", "0 * * * *"],
  ["@annually", "0 0 1 1 *"],
])("%s has these values", (text, pattern) => {
  expect(rhythmOf(text)).toEqual({ pattern });
});

test.each([
  ["@every 90m", 5_400_000],
  ["@every 1h30m", 5_400_000],
  ["@every 2.5s", 2_000],
  ["@every 10ms", 1_000],
])("%s is so many milliseconds", (text, everyMs) => {
  expect(rhythmOf(text)).toEqual({ everyMs });
});

test.each([
  ["", /five fields/],
  ["* * * *", /five fields .*, not 4/],
  ["0 * * * * *", /five fields .*, not 6/],
  ["60 * * * *", /"60" is no minute: it is from 0 to 59/],
  ["* * 0 * *", /"0" is no day of the month/],
  ["* * * 13 *", /"13" is no month/],
  ["* * * * 7", /"7" is no day of the week: it is from 0 to 6/],
  ["5-1 * * * *", /ends before it begins/],
  ["*/0 * * * *", /a step of 0/],
  ["1-2-3 * * * *", /write one value/],
  ["x * * * *", /"x" is no minute: it is a number/],
  ["* * * foo *", /first three letters/],
  ["-1 * * * *", /is no minute/],
  ["L * L * *", /is no minute/],
  ["1,,2 * * * *", /"" is no minute/],
  ["TZ=Europe/Berlin 0 0 * * *", /timeZone/],
  ["@reboot", /@reboot is none of @yearly/],
  ["@every day", /"@every" with a duration/],
  ["@every 9000h", /longer than a year/],
  [`${"9".repeat(400)} * * * *`, /is no minute/],
])("%s is none", (text, message) => {
  expect(scheduleError(text)).toMatch(message);
});

const file = (schedule: object, fields: object = {}) =>
  JSON.stringify({
    name: "t",
    containers: [{ name: "c", rootfs: "/r", command: "x" }],
    schedule: { cron: "@daily", ...schedule },
    ...fields,
  });
const findings = (...texts: string[]) => parseTasks(texts.join("\n---\n")).findings.map(({ pointer, message }) => `${pointer} ${message}`);

test("what a task with a schedule cannot have is told with its place", () => {
  expect(findings(file({}))).toEqual([]);
  expect(findings(file({ timeZone: "Europe/Berlin", overlap: "forbid", startWithin: "5m", copies: 3, atOnce: 1 }))).toEqual([]);
  expect(findings(file({ cron: "never" }))).toEqual([expect.stringContaining("/schedule/cron write five fields")]);
  expect(findings(file({ timeZone: "Europe/Atlantis" }))).toEqual(["/schedule/timeZone there is no time zone Europe/Atlantis"]);
  expect(findings(file({ timeZone: "local" }))).toEqual([expect.stringContaining("/schedule/timeZone name the time zone")]);
  expect(findings(file({}, { start: "always" }))).toEqual([expect.stringContaining("/start ")]);
  const isLong = [expect.stringContaining("/name the names of its runs")];
  expect(findings(file({}, { name: "t".repeat(52) }))).toEqual([]);
  expect(findings(file({}, { name: "t".repeat(53) }))).toEqual(isLong);
  expect(findings(file({ cron: "@every 59s" }, { name: "t".repeat(50) }))).toEqual([]);
  expect(findings(file({ cron: "@every 59s" }, { name: "t".repeat(51) }))).toEqual(isLong);
});

test("no other task waits for a container of it", () => {
  const other = { name: "o", containers: [{ name: "c", rootfs: "/r", command: "x", dependsOn: [{ container: "t/c" }] }] };
  expect(findings(file({}), JSON.stringify(other))).toEqual([expect.stringContaining("t/c is of a task with a schedule")]);
});
