/** Expands "$(NAME)" in commands, arguments and values. */
import type { Expansion } from "../expansion.ts";

const REFERENCE = /\$\$|\$\(([^()\s]+)\)/g;

/** "$$" becomes "$", so that "$$(NAME)" gives the text "$(NAME)". A reference to an unknown name stays as it is, as in Kubernetes. @throws TooLong */
export function expand(text: string, values: Readonly<Record<string, string>>, expansion: Expansion): string {
  return text.replace(REFERENCE, (all: string, name: string | undefined) => {
    if (name === undefined) return "$";
    if (!Object.hasOwn(values, name)) return all;
    const value = values[name]!;
    expansion.take(value.length);
    return value;
  });
}
