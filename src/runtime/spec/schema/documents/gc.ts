/** `runt gc`. */
import { z } from "zod";
import { flag, text, texts, uint32 } from "../common.ts";

const object = z.object({
  /** cgroup: of a container. level: a cgroup above some. state: a directory below the state root. cache: a file of the filter cache. */
  kind: z.enum(["cgroup", "level", "state", "cache"]),
  /** Of the container. */
  id: text.optional(),
  paths: texts,
  /** found: would be removed. kept: processes live in it, or it cannot be told. */
  outcome: z.enum(["removed", "found", "kept", "failed"]),
  reason: text,
  /** Host pids: who lives in it, or, with removed and found, others in its cgroup who are left alone. */
  processes: z.array(uint32).optional(),
});

export const gc = z.object({
  /** State root. */
  root: text,
  dryRun: flag,
  objects: z.array(object),
  /** State roots of further containers. */
  otherRoots: texts,
});
