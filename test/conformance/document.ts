/** docs/conformance.md. */
import { execFileSync } from "node:child_process";
import { release } from "node:os";
import type { Group } from "./group.ts";
import { groupTable, itemTable, type Outcomes } from "./table.ts";

const PEERS = ["crun", "runc"];

/** `mutants`: what test/mutants has written into that section of the page that is there. */
export function document(
  groups: readonly Group[],
  runs: readonly (readonly [name: string, outcomes: Outcomes])[],
  mutants: string,
): string {
  const versions = runs
    .filter(([name]) => PEERS.includes(name))
    .map(([name]) => `- ${execFileSync(name, ["--version"], { encoding: "utf8" }).split("\n")[0]}`);
  return `# Conformance with the OCI runtime specification 1.3

This page lists the requirements of the specification, and whether runt, crun and runc meet them. Written by
\`make conformance\`. Every requirement has one test, with the same id, in \`test/conformance/items\`. A test observes the
result through procfs, the cgroup files or a program in the container, not through the runtime.

${[...versions, `- Linux ${release()}`].join("\n")}

## Groups

"skipped" counts requirements that the host or the runtime cannot show; the reasons are below. The result "(v2)" is from
the guest with cgroup v2 (\`make test-guest\`).

${groupTable(groups, runs)}

## Skipped

${leftOut(runs)}

## Failed

${failures(runs)}

## Mutants

${mutants}

## Items

${itemTable(groups, runs)}
`;
}

function leftOut(runs: readonly (readonly [string, Outcomes])[]): string {
  const own = runs.find(([name]) => !PEERS.includes(name));
  const lines = [...(own?.[1] ?? [])].flatMap(([id, outcome]) =>
    outcome.result === "skipped" || outcome.result === "untested" ? [`- ${id}: ${outcome.detail}`] : [],
  );
  return lines.length === 0 ? "None." : lines.join("\n");
}

function failures(runs: readonly (readonly [string, Outcomes])[]): string {
  const lines = runs.flatMap(([name, outcomes]) =>
    [...outcomes].flatMap(([id, outcome]) =>
      outcome.result === "failed" ? [`| ${name} | ${id} | ${firstLine(outcome.detail).replaceAll("|", "\\|")} |`] : [],
    ),
  );
  return lines.length === 0 ? "None." : ["| runtime | id | first line of the message |", "| --- | --- | --- |", ...lines].join("\n");
}

const firstLine = (text: string) =>
  (text.split("\n")[0] ?? "")
    .replace(/\/tmp\/runt-conformance-\w+\/[\w-]+/g, "DIR")
    .slice(0, 200)
    .trimEnd();
