/**
 * What help and man pages say of a verb beyond the table. Parsing needs nothing of it.
 */
import type { VerbName } from "../table/index.ts";
import { CONTROL_MANUAL } from "./control.ts";
import { CRIU_MANUAL } from "./criu.ts";
import type { VerbManual } from "./definition.ts";
import { DRY_RUN_MANUAL } from "./dry-run.ts";
import { LOOK_MANUAL } from "./look.ts";
import { START_MANUAL } from "./start.ts";

export type { VerbManual } from "./definition.ts";
export { FLAG_GROUPS } from "./groups.ts";

/** A verb of the table that has no entry here does not compile. */
export const MANUAL: Readonly<Record<VerbName, VerbManual>> = {
  ...START_MANUAL,
  ...LOOK_MANUAL,
  ...CONTROL_MANUAL,
  ...CRIU_MANUAL,
  ...DRY_RUN_MANUAL,
};
