/** The record without the members that are undefined: an option that was not given has no member. */
export function defined<T extends object>(record: T): { readonly [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const result: { [Name in keyof T]?: Exclude<T[Name], undefined> } = {};
  for (const name in record) {
    const value = record[name];
    if (value !== undefined) result[name] = value as Exclude<T[typeof name], undefined>;
  }
  return result;
}
