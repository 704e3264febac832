/** The example of a finding as text, for docs/findings.md and `runt explain`. Pure. */
import type { Edits, Entry } from "./entry.ts";

/** A fragment of config.json for some edits. */
function fragment(edits: Edits): string {
  const lines = Object.entries(edits).map(([pointer, value]) => {
    const shown = JSON.stringify(value);
    return value === null
      ? `${pointer}  (left out)`
      : `${pointer.replace(/\/-$/, " +=")}  ${shown.length > 150 ? `${shown.slice(0, 149)}…` : shown}`;
  });
  return lines.length === 0 ? "(left out)" : lines.join("\n");
}

/** What makes the finding, what does not, and the host where that matters: lines of text. */
export function exampleText({ example, fix }: Entry): string {
  const { broken, fixed, text, facts, files } = example;
  const printable = (part: string) =>
    JSON.stringify(part).slice(1, -1).replaceAll('\\"', '"').replaceAll("\\n", "⏎").replace("\ufeff", "\\ufeff");
  const failing = text === undefined ? fragment(broken) : printable(text[1]);
  const working = text === undefined ? (fixed === undefined ? `(${fix})` : fragment(fixed)) : printable(text[0]);
  const where = [
    ...Object.entries(files ?? {}).map(
      ([path, { kind, text: content }]) => `${path} is a ${kind}${content === undefined ? "" : ` (${printable(content)})`}`,
    ),
    ...(facts === undefined ? [] : [`host facts ${JSON.stringify(facts)}`]),
    ...(example.rootless ? ["a caller without rights on the host"] : []),
    ...(example.systemd ? ["--systemd-cgroup"] : []),
  ];
  return [...where.map((line) => `# with ${line}`), "# found in", failing, "# not in", working].join("\n");
}
