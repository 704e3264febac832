/** The form in which a service of both sides is compared: one value for each field, or part of one. A field that says nothing is not there. */
export type View = Readonly<Record<string, unknown>>;

/** Leaves out what says nothing, and puts sets in order. */
export function view(fields: Readonly<Record<string, unknown>>): View {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isNothing(value)));
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Of lists whose order means nothing. */
export function sorted<T>(list: readonly T[]): T[] {
  const all = list.map((one) => ({ one, key: JSON.stringify(one) }));
  return all.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ one }) => one);
}

export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textsOf = (value: unknown): readonly string[] => listOf(value).map(String);

/** A number that may be a text. undefined: it is 0, which says nothing, or not there. */
export const numberIn = (value: unknown) => (value === undefined || value === null ? undefined : Number(value) || undefined);

/** Name of an image with registry and tag. Source: docker, reference.ParseNormalizedNamed. */
export function imageName(written: string): string {
  const [, name = "", tag, digest] = /^(.*?)(?::([^/:@]+))?(@sha256:.*)?$/s.exec(written.replace(/:$/, "")) ?? [];
  const hasHost = /^(?:[^/]*[.:][^/]*|localhost)\//.test(name);
  const full = hasHost ? name : `docker.io/${name.includes("/") ? "" : "library/"}${name}`;
  return `${full}${digest ?? `:${tag ?? "latest"}`}`;
}

/** What is a container's or volume's name there, and may have characters that names of tasks have not. */
export const plainName = (key: string) =>
  key
    .replaceAll(".", "-")
    .replace(/^[_-]+/, "")
    .replace(/[_-]+$/, "");

const UNITS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a duration as Go writes it, like "1m30s". */
export function milliseconds(text: unknown): number | undefined {
  if (text === undefined) return undefined;
  let sum = 0;
  for (const [, count, unit] of String(text).matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) sum += Number(count) * UNITS[unit!]!;
  return sum;
}
