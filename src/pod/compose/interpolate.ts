/** Replaces "${NAME}" in values of a Compose file. Source: Compose specification, "Interpolation". */

export type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^[_a-zA-Z][_a-zA-Z0-9]*/;
const OPERATOR = /^:?[-?+]/;

/** @throws Error: the text is not valid, or a required variable is missing; then with the variable's own message */
export function interpolate(text: string, environment: Environment): string {
  let out = "";
  let rest = text;
  for (let at = rest.indexOf("$"); at >= 0; at = rest.indexOf("$")) {
    out += rest.slice(0, at);
    rest = rest.slice(at + 1);
    if (rest.startsWith("$")) {
      out += "$";
      rest = rest.slice(1);
    } else if (rest.startsWith("{")) {
      const end = closing(rest);
      out += expressionValue(rest.slice(1, end), environment);
      rest = rest.slice(end + 1);
    } else {
      const [name] = NAME.exec(rest) ?? [];
      if (name === undefined) throw new Error('"$" begins no variable: write "$$" for the character');
      out += environment[name] ?? "";
      rest = rest.slice(name.length);
    }
  }
  return out + rest;
}

/** Index of the closing brace that matches the first opening brace. */
function closing(text: string): number {
  let depth = 0;
  for (const [index, character] of text.split("").entries()) {
    if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return index;
  }
  throw new Error(`"\${" is not closed`);
}

function expressionValue(expression: string, environment: Environment): string {
  const [name] = NAME.exec(expression) ?? [];
  if (name === undefined) throw new Error(`\${${expression}} names no variable`);
  const further = expression.slice(name.length);
  const value = environment[name];
  if (further === "") return value ?? "";
  const [operator] = OPERATOR.exec(further) ?? [];
  if (operator === undefined) throw new Error(`\${${expression}} is no form of a variable`);
  const word = further.slice(operator.length);
  const isGiven = value !== undefined && !(operator.startsWith(":") && value === "");
  switch (operator.at(-1)) {
    case "+":
      return isGiven ? interpolate(word, environment) : "";
    case "?":
      if (!isGiven) throw new Error(`the variable ${name} is not set${word === "" ? "" : `: ${interpolate(word, environment)}`}`);
      return value;
    default:
      return isGiven ? value : interpolate(word, environment);
  }
}
