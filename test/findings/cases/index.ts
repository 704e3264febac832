/** All broken bundles: the examples of the catalogue, and further ones. */
import { type Case, FROM_CATALOGUE } from "../case.ts";
import { DEVICES_AND_IDS } from "./devices.ts";
import { LIMITS } from "./limits.ts";
import { LINUX } from "./linux.ts";
import { PROCESS } from "./process.ts";
import { STRUCTURE } from "./structure.ts";

export const CASES: readonly Case[] = [...FROM_CATALOGUE, ...STRUCTURE, ...PROCESS, ...LINUX, ...DEVICES_AND_IDS, ...LIMITS];
