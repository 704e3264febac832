import { compare, type Difference } from "../../diagnostics/index.ts";
import { printable, RuntError } from "../../errors/index.ts";
import { text, type Verb } from "../context.ts";
import { print } from "../output.ts";

/** Exit status: 0 the same, 1 different; 2 (the table's failureStatus) could not be told. */
export const verb: Verb = ({ options, flags, positionals }) => {
  const format = text(flags["format"]) ?? "text";
  if (format !== "text" && format !== "json") throw new RuntError("usage", `invalid format "${format}": use text or json`);
  const [before, after] = positionals as readonly [string, string];
  const found = compare(options, before, after);
  print(format === "json" ? `${JSON.stringify({ before, after, differences: found }, null, 2)}\n` : report(found));
  return found.length === 0 ? 0 : 1;
};

function report(found: readonly Difference[]): string {
  return found
    .map(({ setting, before, after, words }) =>
      [
        setting,
        ...(before === undefined ? [] : [`  - ${before}`]),
        ...(after === undefined ? [] : [`  + ${after}`]),
        ...(words === undefined ? [] : [`  options: ${words.join(" ")}`]),
        "",
      ]
        .map(printable)
        .join("\n"),
    )
    .join("");
}
