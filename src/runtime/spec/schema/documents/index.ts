/** The documents that runt prints and does not read, by the name that `runt schema` has for them. */

import { z } from "zod";
import { flag, text, textMap, texts, uint32 } from "../common.ts";

/** `runt state`: what the specification asks for, and what runc adds. */
export const state = z.object({
  ociVersion: text,
  id: text,
  /** 0 when stopped. */
  pid: uint32,
  status: z.enum(["creating", "created", "running", "paused", "stopped"]),
  bundle: text,
  rootfs: text,
  /** RFC 3339 with nanoseconds. */
  created: text,
  annotations: textMap.optional(),
  owner: text,
});

/** `runt inspect`. */
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

const inspect = z.object({
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

/** `runt gc`. */
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

const gc = z.object({
  /** State root. */
  root: text,
  dryRun: flag,
  objects: z.array(object),
  /** State roots of further containers. */
  otherRoots: texts,
});

/** `runt validate -f json`. */
const finding = z.object({
  /** Stable; each has an entry in docs/findings.md. */
  code: text,
  severity: z.enum(["error", "warning", "advice"]),
  /** JSON pointer into config.json. */
  pointer: text,
  message: text,
  /** 1-based. */
  line: uint32,
  column: uint32,
  /** As it stands in the file, if it is there. */
  value: text.optional(),
  remedy: text.optional(),
  /** Of the specification. */
  section: text.optional(),
  title: text.optional(),
});

const findings = z.object({
  file: text,
  /** "live host, cgroup v2", "no host", ... */
  host: text,
  counts: z.object({ error: uint32, warning: uint32, advice: uint32 }),
  findings: z.array(finding),
});

export const DOCUMENTS: Readonly<Record<string, { readonly title: string; readonly schema: z.ZodType }>> = {
  findings: { title: "Findings of runt validate", schema: findings },
  gc: { title: "What runt gc has found", schema: gc },
  inspect: { title: "A container as runt inspect shows it", schema: inspect },
  state: { title: "The state of a container (OCI runtime specification) as runt state prints it", schema: state },
};
