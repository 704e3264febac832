/** The command table as the shells' scripts need it: every flag and positional with the kind of word it takes. */
import { type FlagDefinition, GLOBAL_FLAGS, VERBS, type VerbDefinition } from "../table/index.ts";

export interface FlagModel {
  readonly name: string;
  readonly short: string | undefined;
  readonly help: string;
  readonly repeatable: boolean;
  /** undefined: a switch. */
  readonly placeholder: string | undefined;
  readonly kind: WordKind;
}

export interface VerbModel {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly FlagModel[];
  readonly positionals: readonly { readonly name: string; readonly kind: WordKind; readonly repeats: boolean }[];
  /** No flags of runt behind the first positional. */
  readonly stopsAtFirst: boolean;
}

export interface CommandModel {
  readonly globals: readonly FlagModel[];
  readonly verbs: readonly VerbModel[];
}

const HELP = GLOBAL_FLAGS.filter(({ name }) => name === "help");

/** Hidden flags are not offered. `help` is a verb here, though the parser reads it itself. */
export function commandModel(verbs: readonly VerbDefinition[] = VERBS, globals: readonly FlagDefinition[] = GLOBAL_FLAGS): CommandModel {
  return { globals: shown(globals), verbs: [...verbs.map(verbModel), HELP_VERB] };
}

const HELP_VERB: VerbModel = {
  name: "help",
  summary: "show the help of a command",
  flags: [],
  positionals: [{ name: "command", kind: "verb", repeats: false }],
  stopsAtFirst: false,
};

function verbModel({ name, summary, flags, positionals, stopsAtFirst = false }: VerbDefinition): VerbModel {
  const words = positionals.split(" ").filter((word) => word !== "");
  return {
    name,
    summary,
    flags: shown([...flags, ...HELP]),
    positionals: words.map((word) => ({ name: word.replace(/[<>[\]]/g, ""), kind: kindOf(word), repeats: word.includes("...") })),
    stopsAtFirst,
  };
}

function shown(flags: readonly FlagDefinition[]): readonly FlagModel[] {
  return flags
    .filter(({ hidden }) => !hidden)
    .map(({ name, short, kind, value, help, repeatable = false }) => {
      const placeholder = kind === "boolean" ? undefined : (value ?? "VALUE");
      return { name, short, help, repeatable, placeholder, kind: placeholder === undefined ? "nothing" : kindOf(placeholder) };
    });
}

/** What a word of the command line can be, read from its placeholder in the table. */
export type WordKind =
  | "container"
  | "signal"
  | "file"
  | "directory"
  | "command"
  | "verb"
  | "nothing"
  | { readonly words: readonly string[] };

const PLACEHOLDERS: Readonly<Record<string, WordKind>> = {
  "container-id": "container",
  signal: "signal",
  command: "command",
  dir: "directory",
  directory: "directory",
  bundle: "directory",
  file: "file",
  socket: "file",
  path: "file",
  fifo: "file",
};

/** `DIR`, `<container-id>`, `[command...]`, `table|json`. An unknown placeholder has no completion. */
export function kindOf(placeholder: string): WordKind {
  const name = placeholder.replace(/[<>[\].]/g, "");
  const parts = name.split("|");
  if (parts.length === 1 || parts.some((part) => part !== part.toLowerCase())) return kindOfName(parts);
  return { words: parts };
}

/** FILE|DIR: the wider of the two, which is the one that the shells offer directories for too. */
function kindOfName(parts: readonly string[]): WordKind {
  return parts.map((part) => PLACEHOLDERS[part.toLowerCase()] ?? "nothing").find((kind) => kind !== "nothing") ?? "nothing";
}
