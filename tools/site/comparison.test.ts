import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { comparisonPage } from "./comparison.ts";

const README = `# runt

## Beside others

Measured once.

| | runt 1 | runc 2 | Podman 3 |
| --- | --- | --- | --- |
| \`create\`, \`run\` in ms | 2.5, 5 | 20, 10 | – |
| memory of \`run\` | 3 MiB | 12 MiB | – |
| a pod, a group of ten | 48 ms, 208 ms | – | 133 ms, 1,684 ms |
| arm64 | yes | yes | yes |

## Where to go
`;

test("each peer has a picture for each unit, with the numbers of the table", () => {
  const { markdown, pictures } = comparisonPage(README);
  expect(pictures.map(({ name }) => name)).toEqual(["runt-1-and-runc-2-ms.svg", "runt-1-and-runc-2-mib.svg", "runt-1-and-podman-3-ms.svg"]);
  const [times, memory, pods] = pictures.map(({ svg }) => svg.replace(/<[^>]*>/g, " ").replace(/\s+/g, " "));
  expect(times).toContain("create 2.5 ms 20.0 ms run 5.0 ms 10.0 ms");
  expect(memory).toContain("memory of run 3.0 MiB 12.0 MiB");
  expect(pods).toContain("a pod 48.0 ms 133.0 ms a group of ten 208.0 ms 1684.0 ms");
  expect(markdown).toContain("# Comparison\n\nMeasured once.");
  expect(markdown).toContain("![runt 1 and runc 2](pictures/runt-1-and-runc-2-mib.svg)");
  expect(markdown).not.toContain("Where to go");
});

test("a README without the section, or without numbers, is an error", () => {
  expect(() => comparisonPage("# runt\n")).toThrow('no section "Beside others"');
  expect(() => comparisonPage("## Beside others\n\n| | runt |\n| --- | --- |\n| a | yes |\n\n## More\n")).toThrow("no numbers");
});

test("the README of this repository has pictures", () => {
  expect(comparisonPage(readFileSync("README.md", "utf8")).pictures.length).toBeGreaterThan(2);
});
