/** Expands "$(NAME)" in commands, arguments and values. */

const REFERENCE = /\$\$|\$\(([^()\s]+)\)/g;

/** "$$" becomes "$", so that "$$(NAME)" gives the text "$(NAME)". A reference to an unknown name stays as it is, as in Kubernetes. */
export function expand(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(REFERENCE, (all: string, name: string | undefined) => {
    if (name === undefined) return "$";
    return Object.hasOwn(values, name) ? values[name]! : all;
  });
}
