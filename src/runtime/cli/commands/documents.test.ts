import { expect, test } from "vitest";
import { featuresTable } from "./documents.ts";

test("has a line for every value, by its place", () => {
  const document = {
    ociVersionMax: "1.3.0",
    linux: { cgroup: { v1: true, rdma: false }, namespaces: ["pid", "mount"] },
    annotations: { "a.b": "c" },
  };
  expect(featuresTable(document)).toBe(
    [
      "ociVersionMax     1.3.0",
      "linux.cgroup.v1   true",
      "linux.cgroup.rdma  false",
      "linux.namespaces  pid, mount",
      "a.b               c",
      "",
    ]
      .join("\n")
      .replace(/^(\S+) +/gm, (_, name: string) => name.padEnd(19)),
  );
});

test("long lists are wrapped below each other", () => {
  const lines = featuresTable({ list: Array.from({ length: 60 }, (_, index) => `word${index}`) })
    .trimEnd()
    .split("\n");
  expect(lines.length).toBeGreaterThan(4);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(lines.slice(1).every((line) => /^ {6}word/.test(line))).toBe(true);
});
