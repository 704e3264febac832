/** Differences between a file here and what Docker Compose makes of it, field by field. Each kind that is meant has its reason (reasons.ts). */
import type { ComposeFile } from "../../src/pod/index.ts";
import { expectedOf } from "./expected.ts";
import type { Context } from "./expected-files.ts";
import { foundOf } from "./found.ts";
import { reasonOf } from "./reasons.ts";
import type { View } from "./view.ts";

export interface Difference {
  readonly service: string;
  readonly field: string;
  readonly expected: unknown;
  readonly found: unknown;
}

export interface Compared {
  /** Without a reason. */
  readonly defects: readonly Difference[];
  readonly explained: readonly (Difference & { readonly why: string })[];
}

export function compare(file: ComposeFile, context: Context): Compared {
  const all = differences(file, context).map((one) => ({ ...one, why: reasonOf(one, file, context) }));
  return {
    defects: all.filter(({ why }) => why === undefined).map(({ why: _, ...one }) => one),
    explained: all.flatMap(({ why, ...one }) => (why === undefined ? [] : [{ ...one, why }])),
  };
}

function differences(file: ComposeFile, context: Context): Difference[] {
  const { services = {}, name } = context.model;
  const all = Object.entries(services).flatMap(([service, fields]): Difference[] => {
    const expected = expectedOf(service, fields, context);
    const found = foundOf(service, fields, services, file);
    if (found === undefined) return expected["count"] === 0 ? [] : [{ service, field: "task", expected: "one", found: "none" }];
    return inFields(service, expected, found);
  });
  const count = Object.values(services).length;
  const more = new Set(file.tasks.flatMap(({ containers }) => containers.map((one) => one.name.replace(/-\d+$/, "")))).size > count;
  return [
    ...(file.name === undefined || file.name === name ? [] : [{ service: "", field: "name", expected: name, found: file.name }]),
    ...(more ? [{ service: "", field: "services", expected: Object.keys(services), found: file.tasks.map((one) => one.name) }] : []),
    ...all,
  ];
}

function inFields(service: string, expected: View, found: View): Difference[] {
  const fields = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
  return fields.flatMap((field) => {
    const [one, other] = [expected[field], found[field]];
    return canonical(one) === canonical(other) ? [] : [{ service, field, expected: one, found: other }];
  });
}

function canonical(value: unknown): string {
  const isMap = (one: unknown): one is object => typeof one === "object" && one !== null && !Array.isArray(one);
  return JSON.stringify(value, (_, one: unknown) =>
    isMap(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}
