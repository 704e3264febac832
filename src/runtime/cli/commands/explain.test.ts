import { expect, test } from "vitest";
import { troubleRows } from "./explain.ts";

const PAGE = `# Trouble

## \`one\`

| text | cause | fix |
| --- | --- | --- |
| \`a …\` | it is [broken](broken.md) | mend it |
| \`b\` | | nothing |

## \`other\`

| text | cause | fix |
| --- | --- | --- |
| c | d | e |
`;

test("rows of the section of a code, without the marks of Markdown", () => {
  expect(troubleRows(PAGE, "one")).toEqual([
    { text: "a …", cause: "it is broken", fix: "mend it" },
    { text: "b", cause: "", fix: "nothing" },
  ]);
  expect(troubleRows(PAGE, "absent")).toEqual([]);
});
