import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pictureOf } from "./gen-recording.ts";

const linesOf = (picture: string) => [...picture.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);

test("each line of the transcript is one of the picture, and nothing of it is markup", () => {
  const picture = pictureOf('$ cat a & b\n  <script> "x"\n');
  expect(linesOf(picture)).toEqual(["$ cat a &amp; b", '  &lt;script&gt; "x"']);
});

test("lines come in their order, and a command later than the output before it", () => {
  const delays = [...pictureOf("$ a\none\ntwo\n$ b\n").matchAll(/animation-delay:([\d.]+)s/g)].map(([, delay]) => Number(delay));
  expect(delays).toEqual([...delays].sort((a, b) => a - b));
  expect(delays[3]! - delays[2]!).toBeGreaterThan(delays[2]! - delays[1]!);
});

test("the picture of README.md shows a plan, a container and a Compose project, and no path of the machine that made it", () => {
  const lines = linesOf(readFileSync("docs/pictures/first-minute.svg", "utf8"));
  for (const command of ["runt plan", "runt run", "runtctl apply", "runtctl get", "runtctl delete"])
    expect(lines.some((line) => line!.startsWith(`$ ${command}`))).toBe(true);
  expect(lines.filter((line) => /\/tmp\/|\/root\/|\/work\//.test(line!))).toEqual([]);
  expect(lines).toContain("hello from the shop");
});
