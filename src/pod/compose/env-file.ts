/** Parses env files: env_file of a service, and .env. Source: Compose specification, "Env_file format". */
import { type Environment, interpolate } from "./interpolate.ts";

const LINE = /^(?:export\s+)?([^\s=:#'"]+)\s*(?:[=:]\s*(.*))?$/s;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "\\": "\\", '"': '"', $: "$$" };

/**
 * Variables in the order of the file. A name without "=" gets its value from `environment`, or is left out. Values may refer to earlier variables and to `environment`.
 * @throws Error: the message has the number of the line
 */
export function variablesIn(text: string, environment: Environment): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { line, content } of statements(text)) {
    const [, name, value] = LINE.exec(content) ?? [];
    if (name === undefined) throw new Error(`line ${line} is no NAME=VALUE`);
    const known = value === undefined ? environment[name] : valueIn(value, { ...environment, ...values }, line);
    if (known !== undefined) values[name] = known;
  }
  return values;
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
    while (quote !== undefined && !isClosed(content, quote) && at + 1 < lines.length) content += `\n${lines[++at]}`;
    yield { line, content };
  }
}

function isClosed(content: string, quote: string): boolean {
  return new RegExp(`${quote}(?:[^${quote}\\\\]|\\\\.)*${quote}`, "s").test(content);
}

function valueIn(given: string, environment: Environment, line: number): string {
  const single = /^'((?:[^'\\]|\\.)*)'\s*(?:#.*)?$/s.exec(given)?.[1];
  if (single !== undefined) return single.replaceAll("\\'", "'");
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/s.exec(given)?.[1];
  if (double === undefined && /^['"]/.test(given)) throw new Error(`line ${line}: a quote is not closed`);
  const plain =
    double === undefined
      ? given.replace(/(?:^|\s+)#.*$/s, "").trim()
      : double.replace(/\\(.)/gs, (all, one: string) => ESCAPES[one] ?? all);
  try {
    return interpolate(plain, environment);
  } catch (error) {
    throw new Error(`line ${line}: ${(error as Error).message}`);
  }
}
