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

/** The names in a map or in a list of NAME=VALUE. */
export function namesOf(given: Readonly<Record<string, unknown>> | readonly string[] | undefined): ReadonlySet<string> {
  const isList = (value: unknown): value is readonly string[] => Array.isArray(value);
  return new Set(isList(given) ? given.map((one) => one.split("=", 1)[0]!) : Object.keys(given ?? {}));
}

/** What fields are allowed in a map: a text, or a text or a list of texts. */
export type FieldTypes = Readonly<Record<string, "text" | "texts">>;

/** Fields of a map that have another type. Unknown ones, which Compose ignores, are left out. */
export function unfitFields(map: Fields, types: FieldTypes): readonly { readonly field: string; readonly message: string }[] {
  return Object.entries(map).flatMap(([field, value]) => {
    if (!Object.hasOwn(types, field) || typeof value === "string") return [];
    const isTexts = Array.isArray(value) && value.every((one) => typeof one === "string");
    if (types[field] === "texts" && isTexts) return [];
    return [{ field, message: types[field] === "texts" ? "is a text, or a list of texts" : "is a text" }];
  });
}

export const NO_SUCH = "has no effect, as with Compose: there is no such field";

/** Fields that Compose does not have. It accepts them where it does not check a map against its schema: each of them has no effect. */
export function unknownFields(map: Fields, types: FieldTypes): readonly string[] {
  return Object.keys(map).filter((field) => !Object.hasOwn(types, field) && !field.startsWith("x-"));
}
