/**
 * The command line as data: every verb, flag and positional. The parser, the help, and later man pages and completion are
 * made from this table. Flags are Go style (one or two dashes, `--flag=value` or `--flag value`), as engines send them.
 */
export interface FlagDefinition {
  readonly name: string;
  /** One-letter form. */
  readonly short?: string;
  readonly kind: "boolean" | "string" | "number";
  /** In help: what the value is (FILE, DIR, N), or the values there are: "text|json". */
  readonly value?: string;
  readonly help: string;
  /** May be given more than once; its value is a list. Never split at commas. */
  readonly repeatable?: boolean;
  /** Understood, but not shown in help: internal, or accepted only because engines send it. */
  readonly hidden?: boolean;
}

export interface VerbDefinition {
  readonly name: VerbName;
  readonly summary: string;
  /** Positionals as shown in help: "<container-id> [signal]". */
  readonly positionals: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly flags: readonly FlagDefinition[];
  /** Words after the first positional are the command line of another program. */
  readonly stopsAtFirst?: boolean;
  /** Exit status of every failure of runt's own, where it is to be told from the program's. */
  readonly failureStatus?: number;
}

export type VerbName =
  | "create"
  | "start"
  | "state"
  | "kill"
  | "delete"
  | "gc"
  | "mounts"
  | "run"
  | "exec"
  | "ps"
  | "pause"
  | "resume"
  | "update"
  | "checkpoint"
  | "restore"
  | "events"
  | "list"
  | "spec"
  | "features"
  | "plan"
  | "validate"
  | "check"
  | "inspect"
  | "diff"
  | "schema"
  | "explain"
  | "completion"
  | "service"
  | "machine";

/** A flag in one line. */
export const flag = (name: string, kind: FlagDefinition["kind"], help: string, rest: Partial<FlagDefinition> = {}): FlagDefinition => ({
  name,
  kind,
  help,
  ...rest,
});
