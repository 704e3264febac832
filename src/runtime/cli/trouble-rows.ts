/** What docs/troubleshooting.md says of an error code. Pure. */

export interface TroubleRow {
  readonly text: string;
  readonly cause: string;
  readonly fix: string;
}

/** Its section is headed by the code in backticks, and has a table of text, cause and fix. Marks of Markdown are taken away. */
export function troubleRows(page: string, code: string): readonly TroubleRow[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`\`${code}\`\n`)) ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (text|what is seen|---)/.test(line))
    .map((line) => {
      const [text = "", cause = "", fix = ""] = line.replace(/^\| | \|$/g, "").split(/ \|(?= )/);
      return { text: plain(text), cause: plain(cause), fix: plain(fix) };
    });
}

/** Code marks and links. */
function plain(text: string): string {
  return text
    .trim()
    .replaceAll("`", "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}
