/**
 * Draws a transcript of a shell as a picture that shows its lines one after the other: `bundles/recording.sh | tsx tools/gen-recording.ts FILE`.
 *
 * A line that begins with "$ " is a command; what follows is its output. The picture is SVG with an animation of CSS only, so that a page can have it as an image.
 * Where nothing is animated it is the whole transcript.
 */
import { readFileSync, writeFileSync } from "node:fs";

/** In pixels. */
const LINE_HEIGHT = 18;
const COLUMN_WIDTH = 7.8;
const MARGIN = 16;
/** In seconds: from a command to its output, from a line to the next, and from the output to the next command. */
const UNTIL_OUTPUT = 0.9;
const UNTIL_LINE = 0.06;
const UNTIL_COMMAND = 1.6;

const STYLE = `
  text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d0d7de; white-space: pre; }
  .command { fill: #7ee787; font-weight: 600; }
  text { animation: appear 0.01s both; }
  @keyframes appear { from { visibility: hidden; } to { visibility: visible; } }
  @media (prefers-reduced-motion: reduce) { text { animation: none; } }
`;

/** The text of an SVG file. Each line of the transcript is one line of the picture, as wide as the longest one. */
export function pictureOf(transcript: string): string {
  const lines = transcript.replace(/\n+$/, "").split("\n");
  let time = 0;
  const drawn = lines.map((line, index) => {
    const isCommand = line.startsWith("$ ");
    const isAfterCommand = lines[index - 1]?.startsWith("$ ") ?? false;
    if (index > 0) time += isCommand ? UNTIL_COMMAND : isAfterCommand ? UNTIL_OUTPUT : UNTIL_LINE;
    const y = MARGIN + LINE_HEIGHT * (index + 0.75);
    const kind = isCommand ? ' class="command"' : "";
    return `<text x="${MARGIN}" y="${y}"${kind} style="animation-delay:${time.toFixed(2)}s" xml:space="preserve">${escaped(line)}</text>`;
  });
  const width = Math.ceil(2 * MARGIN + COLUMN_WIDTH * Math.max(...lines.map(({ length }) => length)));
  const height = 2 * MARGIN + LINE_HEIGHT * lines.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Commands in a shell and their output">
<style>${STYLE}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${drawn.join("\n")}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const [, program, target] = process.argv;
if (program?.endsWith("gen-recording.ts")) {
  if (target === undefined) throw new Error("usage: gen-recording.ts FILE");
  writeFileSync(target, pictureOf(readFileSync(0, "utf8")));
}
