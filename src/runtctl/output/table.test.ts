import { expect, test } from "vitest";
import { age, field, table } from "./table.ts";

test("columns are as wide as their widest cell, and no line ends in spaces", () => {
  expect(
    table(
      ["TASK", "STATE"],
      [
        ["web", "RUNNING"],
        ["a-longer-name", ""],
      ],
    ).split("\n"),
  ).toEqual(["TASK            STATE", "web             RUNNING", "a-longer-name   "].map((line) => line));
});

test.each([
  [-5, "0s"],
  [119_999, "119s"],
  [120_000, "2m"],
  [7_200_000, "2h"],
  [172_800_000, "2d"],
])("an age of %d ms is %s", (ms, text) => {
  expect(age(ms)).toBe(text);
});

test("all values are in one column; one that continues the line before has no label, and no colon either", () => {
  expect(field("Image", "x")).toBe("Image:          x");
  expect(field("", "because y")).toBe("                because y");
});
