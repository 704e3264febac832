/** `runt inspect`. */
import { z } from "zod";
import { flag, text, texts, uint32 } from "../common.ts";
import { state } from "./state.ts";

const setting = z.object({
  /** "cgroup", "namespaces", "process", "mounts". */
  group: text,
  name: text,
  /** JSON pointer in config.json; empty: implied. */
  from: text,
  /** undefined: nothing was asked. */
  asked: text.optional(),
  /** undefined: the kernel does not say. */
  kernel: text.optional(),
  drift: flag,
});

const operation = z.object({
  actor: z.enum(["runtime", "intermediate", "init"]),
  pid: uint32,
  /** As `runt plan` numbers it. */
  number: uint32,
  op: text,
  /** What it is done to. */
  description: text.optional(),
  from: text.optional(),
});

export const inspect = z.object({
  state,
  /** Digest of the plan that create was told to expect. */
  planDigest: text.optional(),
  /** Kept from create and update. */
  warnings: texts,
  /** Where each actor is, while the container is being created. */
  operations: z.array(operation),
  cgroup: z.object({ version: uint32, paths: texts, unit: text.optional() }).optional(),
  /** Host pids; undefined without a cgroup. */
  processes: z.array(uint32).optional(),
  settings: z.array(setting),
  /** How many of them differ. */
  drift: uint32,
});
