/** Values of a file that were not checked by a schema yet. */

export { fieldsOf, isObject as isMap } from "../../shared/text/index.ts";

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts a map or a list of NAME=VALUE to a map.
 * @param outside the caller's environment, from which a NAME without a value gets one; the name is left out if it is not set there. undefined: such
 * a value is empty
 */
export function pairsOf(
  given: Readonly<Record<string, string | number | boolean | null>> | readonly string[] | undefined,
  outside?: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const isList = (value: unknown): value is readonly string[] => Array.isArray(value);
  const pairs: (readonly [string, string | undefined])[] = isList(given)
    ? given.map((one) => {
        const at = one.indexOf("=");
        return at < 0 ? [one, undefined] : [one.slice(0, at), one.slice(at + 1)];
      })
    : Object.entries(given ?? {}).map(([name, value]) => [name, value === null ? undefined : String(value)]);
  return Object.fromEntries(
    pairs.flatMap(([name, value]) => {
      const known = value ?? (outside === undefined ? "" : outside[name]);
      return known === undefined ? [] : [[name, known]];
    }),
  );
}
