/** The client as it is installed. */
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";

export type Program = readonly [string, ...string[]];

export const RUNTCTL: Program = [join(REPOSITORY, "bin/runtctl")];
