/** Formats "Name:   value", with all values in one column. `name` "": the value continues the line before. */
export function field(name: string, value: string): string {
  return `${(name === "" ? "" : `${name}:`).padEnd(16)}${value}`;
}
