/**
 * Replaces "${NAME}" in values of a Compose file, in time proportional to the length of input and output. Source: Compose specification,
 * "Interpolation".
 */
import { Expansion } from "../expansion.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const OPERATOR = /:?[-?+]/y;
/** Maximum nesting of expressions such as "${A:-${B:-c}}". */
const MOST_LEVELS = 20;

/** Called with the name of a variable that has neither a value nor a default. It is replaced by an empty text. */
export type Unset = (name: string) => void;

/**
 * Replaces the variables in a text. A "$" that begins no variable stays as it is.
 * @throws Error: the text is not valid, or a required variable is missing, with the message that the expression gives; TooLong
 */
export function interpolate(
  text: string,
  environment: Environment,
  expansion: Expansion = new Expansion(),
  unset: Unset = () => {},
): string {
  if (!text.includes("$")) return text;
  return new Interpolation(text, environment, expansion, unset).valueOf(0, text.length, 0);
}

class Interpolation {
  readonly #text: string;
  readonly #environment: Environment;
  readonly #expansion: Expansion;
  readonly #unset: Unset;
  /** Position of the closing brace for each opening one. */
  readonly #ends: ReadonlyMap<number, number>;

  constructor(text: string, environment: Environment, expansion: Expansion, unset: Unset) {
    this.#text = text;
    this.#environment = environment;
    this.#expansion = expansion;
    this.#unset = unset;
    this.#ends = bracesOf(text);
  }

  valueOf(from: number, to: number, level: number): string {
    if (level > MOST_LEVELS) throw new Error(`variables are within each other more than ${MOST_LEVELS} times`);
    const text = this.#text;
    const parts: string[] = [];
    let at = from;
    for (let dollar = text.indexOf("$", at); dollar >= 0 && dollar < to; dollar = text.indexOf("$", at)) {
      parts.push(text.slice(at, dollar));
      const next = text[dollar + 1];
      if (next === "$") {
        parts.push("$");
        at = dollar + 2;
      } else if (next === "{") {
        const end = this.#ends.get(dollar + 1);
        if (end === undefined) throw new Error(`"\${" is not closed`);
        parts.push(this.#expression(dollar + 2, end, level));
        at = end + 1;
      } else {
        const name = matched(NAME, text, dollar + 1);
        parts.push(name === undefined ? "$" : this.#known(name));
        at = dollar + 1 + (name?.length ?? 0);
      }
    }
    return parts.join("") + text.slice(at, to);
  }

  #known(name: string): string {
    const value = this.#environment[name];
    if (value === undefined) this.#unset(name);
    this.#expansion.take(value?.length ?? 0);
    return value ?? "";
  }

  #expression(from: number, to: number, level: number): string {
    const text = this.#text;
    const name = matched(NAME, text, from);
    if (name === undefined) throw new Error(`\${${text.slice(from, to)}} names no variable`);
    const behind = from + name.length;
    if (behind === to) return this.#known(name);
    const operator = matched(OPERATOR, text, behind);
    if (operator === undefined) throw new Error(`\${${text.slice(from, to)}} is no form of a variable`);
    const word = () => this.valueOf(behind + operator.length, to, level + 1);
    const value = this.#environment[name];
    const isGiven = value !== undefined && !(operator.startsWith(":") && value === "");
    switch (operator.at(-1)) {
      case "+":
        return isGiven ? word() : "";
      case "?":
        if (!isGiven) throw new Error(`the variable ${name} is not set${behind + operator.length === to ? "" : `: ${word()}`}`);
        return this.#known(name);
      default:
        return isGiven ? this.#known(name) : word();
    }
  }
}

/** @param pattern must be sticky (flag y) */
function matched(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function bracesOf(text: string): Map<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "{") open.push(at);
    else if (text[at] === "}") {
      const start = open.pop();
      if (start !== undefined) ends.set(start, at);
    }
  }
  return ends;
}
