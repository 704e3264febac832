import { expect, test } from "vitest";
import { barChart, escapeText } from "./svg.ts";

const chart = (values: readonly [number, number]) =>
  barChart({ title: "a < b", unit: "ms", names: ["runt", "crun"], bars: [{ label: "run & go", values }] });

const widths = (svg: string) => [...svg.matchAll(/width="([\d.]+)" height="11"/g)].map(([, width]) => Number(width));

test("the bars have the lengths of their values, and each says its value with the unit", () => {
  const svg = chart([2, 8]);
  const [own = 0, peer = 0] = widths(svg);
  expect(peer / own).toBeCloseTo(4, 1);
  expect(svg).toContain(">2.00 ms</text>");
  expect(svg).toContain(">8.00 ms</text>");
});

test("no bar is longer than the picture, and nothing at all is no error", () => {
  expect(Math.max(...widths(chart([1e9, 1])))).toBeLessThan(820);
  expect(widths(chart([0, 0]))).toEqual([0, 0]);
});

test("texts are escaped, and there are colours for a dark ground", () => {
  const svg = chart([1, 2]);
  expect(svg).toContain(">run &amp; go</text>");
  expect(svg).not.toContain("a < b");
  expect(svg).toContain("prefers-color-scheme: dark");
  expect(escapeText('"')).toBe("&quot;");
});
