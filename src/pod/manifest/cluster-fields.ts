/** What a file says to a cluster only. It is refused, or with `--ignore-cluster-fields` told of and left out. */
import type { Problem } from "../../engine/spec/index.ts";
import { CLUSTER_FIELDS } from "../schema/pod.ts";
import { workloads } from "../schema/workload.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Where a document of this kind has the spec of its pods. */
const POD_SPEC: Readonly<Record<string, readonly string[]>> = {
  Pod: ["spec"],
  ...Object.fromEntries(Object.keys(workloads).map((kind) => [kind, ["spec", "template", "spec"]])),
};

/** Kinds that are never left out: without them more would be allowed, or nothing would run. */
const NEVER: Readonly<Record<string, string>> = {
  NetworkPolicy: "nothing here would keep connections away",
  CronJob: "there is no schedule on this host: let a timer of systemd call `runtctl run`",
};

export interface Stripped {
  readonly value: unknown;
  /** What was left out. */
  readonly ignored: readonly Problem[];
}

/** The document without the fields of a cluster. @param kind of the document */
export function withoutClusterFields(value: unknown, kind: string): Stripped {
  const path = POD_SPEC[kind];
  if (path === undefined) return { value, ignored: [] };
  const spec = path.reduce<unknown>((at, key) => fieldsOf(at)[key], value);
  const found = Object.entries(CLUSTER_FIELDS).filter(([field]) => Object.hasOwn(fieldsOf(spec), field));
  if (found.length === 0) return { value, ignored: [] };
  const rest = Object.fromEntries(Object.entries(fieldsOf(spec)).filter(([field]) => !Object.hasOwn(CLUSTER_FIELDS, field)));
  const replaced = (at: unknown, [key, ...further]: readonly string[]): unknown =>
    key === undefined ? rest : { ...fieldsOf(at), [key]: replaced(fieldsOf(at)[key], further) };
  return {
    value: replaced(value, path),
    ignored: found.map(([field, why]) => ({ code: "shape", message: `is left out: ${why}`, path: [...path, field] })),
  };
}

/** Of a document of a kind that is not supported. @param supported names of those that are */
export function foreignKind(
  kind: unknown,
  isLeftOut: boolean,
  supported: readonly string[],
): { readonly problem: Problem; readonly isError: boolean } {
  const said = (message: string, isError: boolean) => ({ problem: { code: "shape", message, path: ["kind"] } as const, isError });
  if (typeof kind !== "string" || kind === "")
    return said(`documents of kind ${String(kind)} are not supported: only ${supported.join(", ")}`, true);
  const never = NEVER[kind];
  if (never !== undefined) return said(`documents of kind ${kind} are not supported: ${never}`, true);
  return isLeftOut
    ? said(`the document of kind ${kind} is left out: there is no cluster`, false)
    : said(`documents of kind ${kind} are not supported: only ${supported.join(", ")}; --ignore-cluster-fields leaves them out`, true);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
