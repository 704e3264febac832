/** Command line -> verb, flags, positionals, straight from the table: no library on the start-up path. */
import { RuntError } from "../errors/index.ts";
import { type FlagDefinition, GLOBAL_FLAGS, VERBS, type VerbDefinition } from "./table/index.ts";

/** A repeatable flag is a list, in order. */
export type FlagValue = string | number | true | readonly string[] | undefined;
export type FlagValues = Readonly<Record<string, FlagValue>>;

export interface CommandLine {
  readonly global: FlagValues;
  /** undefined: no verb was given. */
  readonly verb?: VerbDefinition;
  readonly flags: FlagValues;
  readonly positionals: readonly string[];
}

interface Cursor {
  readonly words: readonly string[];
  index: number;
}

export function parseCommandLine(words: readonly string[]): CommandLine {
  const cursor: Cursor = { words, index: 0 };
  const global: Record<string, FlagValue> = {};
  const flags: Record<string, FlagValue> = {};
  while (isFlag(words[cursor.index])) readFlag(cursor, GLOBAL_FLAGS, global);
  const name = words[cursor.index++];
  if (name === undefined || name === "help" || name === "h") {
    const topic = words[cursor.index];
    const verb = verbOf(topic);
    if (!verb && topic !== undefined && !isFlag(topic)) throw new RuntError("unknown-command", `No help topic for '${topic}'`);
    return {
      global: { ...global, ...(global["version"] ? {} : { help: true }) },
      flags: verb ? { help: true } : flags,
      positionals: [],
      ...(verb && { verb }),
    };
  }
  const verb = verbOf(name);
  if (!verb) throw new RuntError("unknown-command", `No help topic for '${name}'`);
  const positionals: string[] = [];
  while (cursor.index < words.length) {
    const word = words[cursor.index]!;
    if (word === "--") {
      positionals.push(...words.slice(cursor.index + 1));
      break;
    }
    if (isFlag(word)) readFlag(cursor, verb.flags, flags);
    else {
      positionals.push(word);
      cursor.index++;
      if (verb.stopsAtFirst) {
        positionals.push(...words.slice(words[cursor.index] === "--" ? cursor.index + 1 : cursor.index));
        break;
      }
    }
  }
  if (!flags["help"] && !global["help"]) checkCount(verb, positionals.length);
  return { global, verb, flags, positionals };
}

/** crun's. */
const PEER_SPELLINGS: Readonly<Record<string, string>> = { "?": "help", usage: "help", V: "version" };
const HELP: FlagDefinition = GLOBAL_FLAGS.find(({ name }) => name === "help")!;

function verbOf(name: string | undefined): VerbDefinition | undefined {
  for (const verb of VERBS) if (verb.name === name) return verb;
  return undefined;
}

function isFlag(word: string | undefined): boolean {
  return word !== undefined && word.length > 1 && word.startsWith("-") && word !== "--";
}

function readFlag(cursor: Cursor, definitions: readonly FlagDefinition[], values: Record<string, FlagValue>): void {
  const word = cursor.words[cursor.index++]!;
  const equals = word.indexOf("=");
  const spelled = word.slice(word.startsWith("--") ? 2 : 1, equals === -1 ? word.length : equals);
  const name = PEER_SPELLINGS[spelled] ?? spelled;
  const definition = definitionOf(definitions, name);
  if (!definition) throw new RuntError("usage", `flag provided but not defined: -${name}`);
  const inline = equals === -1 ? undefined : word.slice(equals + 1);
  if (definition.kind === "boolean") {
    values[definition.name] = booleanValue(definition.name, inline);
    return;
  }
  const text = inline ?? cursor.words[cursor.index++];
  if (text === undefined) throw new RuntError("usage", `flag needs an argument: -${name}`);
  if (definition.repeatable) values[definition.name] = [...((values[definition.name] as readonly string[] | undefined) ?? []), text];
  else values[definition.name] = definition.kind === "number" ? numberValue(definition.name, text) : text;
}

function definitionOf(definitions: readonly FlagDefinition[], name: string): FlagDefinition | undefined {
  for (const definition of definitions) if (definition.name === name || definition.short === name) return definition;
  return HELP.name === name || HELP.short === name ? HELP : undefined;
}

function booleanValue(name: string, inline: string | undefined): true | undefined {
  if (inline === undefined || /^(1|t|true|yes)$/i.test(inline)) return true;
  if (/^(0|f|false|no)$/i.test(inline)) return undefined;
  throw new RuntError("usage", `invalid value "${inline}" for flag -${name}: use true or false`);
}

function numberValue(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new RuntError("usage", `invalid value "${text}" for flag -${name}: use a number`);
  return Number(text);
}

function checkCount({ name, minimum, maximum }: VerbDefinition, count: number): void {
  if (count >= minimum && count <= maximum) return;
  const bound = minimum === maximum ? `exactly ${minimum}` : count < minimum ? `a minimum of ${minimum}` : `a maximum of ${maximum}`;
  throw new RuntError("usage", `"${name}" requires ${bound} argument${minimum === 1 && maximum === 1 ? "" : "s"}`, {
    hint: `runt ${name} --help`,
  });
}
