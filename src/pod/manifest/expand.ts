/** "$(NAME)" in commands, arguments and values. */

const REFERENCE = /\$\$|\$\(([^()\s]+)\)/g;

/** "$$" is "$", so "$$(NAME)" stays what it says; a name that nobody has stays as it is, as Kubernetes does it. */
export function expand(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(REFERENCE, (all: string, name: string | undefined) => {
    if (name === undefined) return "$";
    return Object.hasOwn(values, name) ? values[name]! : all;
  });
}
