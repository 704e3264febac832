/** Every verb, in the order of the help. */
import type { Verb } from "../verb.ts";
import { apply } from "./apply.ts";
import { remove } from "./delete.ts";
import { get } from "./get.ts";
import { logs } from "./logs.ts";
import { validate } from "./validate.ts";

export const VERBS: readonly Verb[] = [apply, get, logs, remove, validate];
