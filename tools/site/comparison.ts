/** The page that compares runt with others: the section of README.md, with its numbers as pictures. Pure. */
import { type Bar, barChart } from "../../bench/svg.ts";

/** A picture: its name and its text. */
export interface Picture {
  readonly name: string;
  readonly svg: string;
}

const SECTION = /^## Beside others\n([\s\S]*?)(?=^## )/m;

/** @throws If README.md has no such section, or its table no numbers. */
export function comparisonPage(readme: string): { readonly markdown: string; readonly pictures: readonly Picture[] } {
  const text = SECTION.exec(readme)?.[1]?.trim();
  if (text === undefined) throw new Error('comparison: README.md has no section "Beside others"');
  const rows = text
    .split("\n")
    .filter((line) => line.startsWith("|") && !line.startsWith("| ---"))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
  const pictures = picturesOf(rows);
  if (pictures.length === 0) throw new Error("comparison: the table of README.md has no numbers to compare");
  const shown = pictures.map(({ name, title }) => `![${title}](pictures/${name})`);
  const markdown = ["# Comparison", text, "## In pictures", ...shown, "More of them: [performance](docs/performance.md)."];
  return { markdown: `${markdown.join("\n\n")}\n`, pictures };
}

/** One picture for each peer and unit. The first row has the names; the second column is runt's. */
function picturesOf([names = [], ...rows]: readonly (readonly string[])[]): (Picture & { title: string })[] {
  const [, own = "", ...peers] = names;
  return peers.flatMap((peer, index) => {
    const bars = rows.flatMap((row) => barsOf(row[0] ?? "", row[1] ?? "", row[index + 2] ?? ""));
    return [...new Set(bars.map(({ unit }) => unit))].map((unit) => {
      const title = `${own} and ${peer}`;
      const name = `${title}-${unit}`.toLowerCase().replace(/[^a-z\d]+/g, "-");
      const svg = barChart({ title, unit, names: [own, peer], bars: bars.filter((bar) => bar.unit === unit), digits: 1 });
      return { name: `${name}.svg`, svg, title };
    });
  });
}

/** "`create`, `run` in ms", "2.2, 2.8" and "21, 19" are two bars. Cells without numbers, or with a different count of them, are none. */
function barsOf(label: string, own: string, peer: string): (Bar & { unit: string })[] {
  const [ours, theirs] = [numbers(own), numbers(peer)];
  if (ours.length === 0 || ours.length !== theirs.length) return [];
  const unit = / in (\w+)$/.exec(label)?.[1] ?? /[A-Za-z]+/.exec(own)?.[0] ?? "";
  const plain = label.replace(/ in \w+$/, "").replaceAll("`", "");
  const labels = plain.split(", ");
  return ours.map((value, index) => ({
    label: (labels.length === ours.length ? labels[index] : undefined) ?? plain,
    values: [value, theirs[index]!],
    unit,
  }));
}

/** A comma before three digits separates thousands, a comma and a blank separate numbers. A text with other words than a unit has no numbers. */
function numbers(cell: string): number[] {
  const parts = cell.split(", ").map((part) => /^([\d,]+(?:\.\d+)?)(?: [A-Za-z]+)?$/.exec(part)?.[1]);
  return parts.includes(undefined) ? [] : parts.map((part) => Number(part!.replaceAll(",", "")));
}
