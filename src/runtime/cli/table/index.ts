/**
 * The command line as data: every verb, flag and positional. The parser, the help, the man pages and the completion are
 * made from this table. Flags are Go style (one or two dashes, `--flag=value` or `--flag value`), as engines send them.
 */
import { CONTROL_VERBS } from "./control.ts";
import { CRIU_VERBS } from "./criu.ts";
import type { VerbDefinition } from "./definition.ts";
import { DRY_RUN_VERBS } from "./dry-run.ts";
import { LOOK_VERBS } from "./look.ts";
import { START_VERBS } from "./start.ts";

export type { FlagDefinition, VerbDefinition, VerbName } from "./definition.ts";
export { GLOBAL_FLAGS } from "./global.ts";

/** In the order of the help. */
export const VERBS: readonly VerbDefinition[] = [...START_VERBS, ...LOOK_VERBS, ...CONTROL_VERBS, ...CRIU_VERBS, ...DRY_RUN_VERBS];
