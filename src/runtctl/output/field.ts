/** "Name:   value" with the values below each other. */
export function field(name: string, value: string): string {
  return `${`${name}:`.padEnd(16)}${value}`;
}
