/** Reports a fault in an anchor, or in a service that others extend, once and not for each service that has it from there. */
import { type Finding, type Problem, pathOf } from "../../engine/spec/index.ts";

/** Findings of the same field with the same text at the same place become one, which names the further services. */
export function once(findings: readonly Finding[]): Finding[] {
  const known = new Map<string, { readonly finding: Finding; readonly others: string[] }>();
  for (const finding of findings) {
    const { message, file, line, column, pointer } = finding;
    const key = JSON.stringify([message, file, line, column, ...pathOf(pointer).slice(2)]);
    const before = known.get(key);
    if (before === undefined) known.set(key, { finding, others: [] });
    else if (serviceOf(pointer) !== serviceOf(before.finding.pointer)) before.others.push(serviceOf(pointer));
  }
  return [...known.values()].map(({ finding, others }) =>
    others.length === 0 ? finding : { ...finding, message: `${finding.message} (also in ${[...new Set(others)].join(", ")})` },
  );
}

/** Name of the service, or of another part of the file. */
function serviceOf(pointer: string): string {
  return String(pathOf(pointer)[1] ?? pointer);
}

/** Names of the services that have a problem of this field. */
export function servicesWith(field: string, problems: readonly Problem[]): ReadonlySet<unknown> {
  return new Set(problems.flatMap(({ path: [kind, name, one] }) => (kind === "services" && one === field ? [name] : [])));
}
