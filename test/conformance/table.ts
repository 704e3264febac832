/** The outcome as tables: one row a group, and every item that did not pass. */
import type { Group, Item } from "./group.ts";
import type { Outcome } from "./run.ts";

export type Outcomes = ReadonlyMap<string, Outcome>;

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  untested: number;
}

export function count(items: readonly Item[], outcomes: Outcomes): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0, untested: 0 };
  for (const { id } of items) {
    const outcome = outcomes.get(id);
    if (outcome !== undefined) counts[outcome.result]++;
  }
  return counts;
}

/** For a terminal: one runtime. */
export function summary(groups: readonly Group[], outcomes: Outcomes): string {
  const width = Math.max(...groups.map(({ title }) => title.length));
  const rows = groups.map(({ prefix, title, items }) => {
    const { passed, failed, skipped, untested } = count(items, outcomes);
    return `${prefix}  ${title.padEnd(width)}  ${cell(items.length)} items  ${cell(passed)} passed  ${cell(skipped)} skipped  ${cell(untested)} untested  ${cell(failed)} failed`;
  });
  return rows.join("\n");
}

const cell = (value: number) => String(value).padStart(3);

/** The word of one outcome in the document. */
export function word(outcome: Outcome | undefined): string {
  return outcome === undefined ? "" : `${outcome.result}${outcome.elsewhere ? " (v2)" : ""}`;
}

export function groupTable(groups: readonly Group[], runs: readonly (readonly [name: string, outcomes: Outcomes])[]): string {
  const heads = runs.map(([name]) => `${name} passed | skipped | failed`);
  const lines = [`| group | | items | ${heads.join(" | ")} |`, `| --- | --- | --: |${" --: | --: | --: |".repeat(runs.length)}`];
  const row = (prefix: string, title: string, items: readonly Item[]) => {
    const cells = runs.map(([, outcomes]) => {
      const { passed, skipped, untested, failed } = count(items, outcomes);
      return `${passed} | ${skipped + untested} | ${failed}`;
    });
    return `| ${prefix} | ${title} | ${items.length} | ${cells.join(" | ")} |`;
  };
  for (const { prefix, title, items } of groups) lines.push(row(prefix, title, items));
  lines.push(
    row(
      "",
      "**all**",
      groups.flatMap(({ items }) => items),
    ),
  );
  return lines.join("\n");
}

/** Every item with its word for each runtime. */
export function itemTable(groups: readonly Group[], runs: readonly (readonly [name: string, outcomes: Outcomes])[]): string {
  const lines = [
    `| id | level | requirement | ${runs.map(([name]) => name).join(" | ")} |`,
    `| --- | --- | --- |${" --- |".repeat(runs.length)}`,
  ];
  for (const item of groups.flatMap(({ items }) => items)) {
    const cells = runs.map(([, outcomes]) => word(outcomes.get(item.id)));
    const note = item.note === undefined ? "" : ` *(${item.note})*`;
    lines.push(`| ${item.id} | ${item.level} | ${cellText(item.text + note)} | ${cells.join(" | ")} |`);
  }
  return lines.join("\n");
}

const cellText = (text: string) => text.replaceAll("|", "\\|");
