/** Bar charts as SVG: pairs of bars with their values in text, legible on light and on dark ground. */

export interface Bar {
  readonly label: string;
  /** runt's and its peer's. */
  readonly values: readonly [number, number];
}

export interface Chart {
  readonly title: string;
  /** Of the values. */
  readonly unit: string;
  readonly names: readonly [string, string];
  readonly bars: readonly Bar[];
  readonly digits?: number;
}

const WIDTH = 820;
const LABELS = 290;
const NUMBERS = 80;
const BAR = 11;
const GROUP = 34;
const TOP = 62;
const BOTTOM = 14;
const FULL = WIDTH - LABELS - NUMBERS;

/** Two hues that also differ in lightness. Texts have the colour that fits the background. */
const STYLE = `<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 14px }
.own { fill: #0a6e8a }
.peer { fill: #b3b9c1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .own { fill: #3fb8d8 } .peer { fill: #6b737d } }
</style>`;

export function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

export function barChart({ title, unit, names, bars, digits = 2 }: Chart): string {
  const height = TOP + bars.length * GROUP + BOTTOM;
  const greatest = Math.max(...bars.flatMap(({ values }) => values), Number.MIN_VALUE);
  const label = `${title}, ${unit}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeText(label)}">`,
    STYLE,
    `<text class="title" x="0" y="18">${escapeText(label)}</text>`,
    ...names.flatMap((name, index) => [
      `<rect class="${index === 0 ? "own" : "peer"}" x="${LABELS + index * 120}" y="32" width="12" height="12"/>`,
      `<text x="${LABELS + 18 + index * 120}" y="42">${escapeText(name)}</text>`,
    ]),
    ...bars.flatMap(({ label: name, values }, row) => [
      `<text x="${LABELS - 10}" y="${TOP + row * GROUP + BAR + 4}" text-anchor="end">${escapeText(name)}</text>`,
      ...values.flatMap((value, index) => {
        const y = TOP + row * GROUP + index * (BAR + 2);
        const width = (FULL * value) / greatest;
        return [
          `<rect class="${index === 0 ? "own" : "peer"}" x="${LABELS}" y="${y}" width="${width.toFixed(1)}" height="${BAR}"/>`,
          `<text x="${(LABELS + width + 6).toFixed(1)}" y="${y + BAR - 1}">${value.toFixed(digits)} ${escapeText(unit)}</text>`,
        ];
      }),
    ]),
    "</svg>",
    "",
  ].join("\n");
}
