/** Parses env files: env_file of a service, and .env. Source: Compose specification, "Env_file format". */
import { Expansion } from "../expansion.ts";
import { type Environment, interpolate, type Unset } from "./interpolate.ts";

const LINE = /^(?:export\s+)?([^\s=:#'"]+)\s*(?:[=:]\s*(.*))?$/s;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\\": "\\", '"': '"', $: "$$" };

/**
 * Variables in the order of the file. A name without "=" gets its value from `environment`, or is left out. Values may refer to variables of
 * `environment`, which take precedence, and to earlier variables. Source: compose-go, dotenv/godotenv.go, expandVariables.
 * @param earlier variables of earlier files; those of this file take precedence
 * @throws Error: the message has the number of the line
 */
export function variablesIn(
  text: string,
  environment: Environment,
  expansion: Expansion = new Expansion(),
  unset: Unset = () => {},
  earlier: Environment = {},
): Record<string, string> {
  const values: Record<string, string> = {};
  const all: Record<string, string | undefined> = { ...earlier, ...environment };
  for (const { line, content } of statements(text)) {
    const [, name, value] = LINE.exec(content) ?? [];
    if (name === undefined) throw new Error(`line ${line} is no NAME=VALUE`);
    const known = value === undefined ? environment[name] : valueIn(value, all, { line, expansion, unset });
    if (known === undefined) continue;
    values[name] = known;
    all[name] = environment[name] ?? known;
  }
  return values;
}

/** Variables of a file in the format "raw": everything after the first "=" is the value. Source: Compose specification, "format". */
export function rawVariablesIn(text: string): Record<string, string> {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const pairs = lines.flatMap((line) => {
    const at = line.indexOf("=");
    return line.startsWith("#") || at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
  });
  return Object.fromEntries(pairs);
}

interface Statement {
  readonly line: number;
  readonly content: string;
}

/** Yields lines that are neither empty nor comments. A quoted value may continue over several lines. */
function* statements(text: string): Generator<Statement> {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1;
    let content = lines[at]!.trim();
    if (content === "" || content.startsWith("#")) continue;
    const quote = /^[^=:'"]*[=:]\s*(['"])/.exec(content)?.[1];
    if (quote !== undefined) {
      const parts = [content];
      // The search starts after the opening quote, and in each further line at its beginning.
      let from = content.indexOf(quote) + 1;
      while (!isClosed(parts.at(-1)!, quote, from) && at + 1 < lines.length) {
        parts.push(lines[++at]!);
        from = 0;
      }
      content = parts.join("\n");
    }
    yield { line, content };
  }
}

/** Whether the line has the closing quote of a value. A quote after a backslash does not count. */
function isClosed(line: string, quote: string, from: number): boolean {
  for (let at = from; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === quote) return true;
  }
  return false;
}

interface Place {
  readonly line: number;
  readonly expansion: Expansion;
  readonly unset: Unset;
}

function valueIn(given: string, environment: Environment, { line, expansion, unset }: Place): string {
  const single = /^'((?:[^'\\]|\\.)*)'\s*(?:#.*)?$/s.exec(given)?.[1];
  if (single !== undefined) return single.replaceAll("\\'", "'");
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/s.exec(given)?.[1];
  if (double === undefined && /^['"]/.test(given)) throw new Error(`line ${line}: a quote is not closed`);
  const plain = double === undefined ? withoutComment(given).trim() : double.replace(/\\(.)/gs, (all, one: string) => ESCAPES[one] ?? all);
  try {
    return interpolate(plain, environment, expansion, unset);
  } catch (error) {
    throw new Error(`line ${line}: ${(error as Error).message}`);
  }
}

/** A comment begins at the start, or after white space. A regular expression that looks for both takes quadratic time over long white space. */
function withoutComment(text: string): string {
  for (let at = text.indexOf("#"); at >= 0; at = text.indexOf("#", at + 1))
    if (at === 0 || /\s/.test(text[at - 1]!)) return text.slice(0, at);
  return text;
}
