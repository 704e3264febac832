/** Formats "Name:   value", with all values in one column. */
export function field(name: string, value: string): string {
  return `${`${name}:`.padEnd(16)}${value}`;
}
