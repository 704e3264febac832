import { z } from "zod";
import { flag, int32, int64, optional, text, texts, uint32, uint64 } from "./common.ts";

const user = z.object({
  uid: optional(uint32),
  gid: optional(uint32),
  umask: optional(uint32),
  additionalGids: optional(z.array(uint32)),
  username: optional(text),
});

const capabilities = z.object({
  bounding: optional(texts),
  effective: optional(texts),
  inheritable: optional(texts),
  permitted: optional(texts),
  ambient: optional(texts),
});

const scheduler = z.object({
  policy: optional(text),
  nice: optional(int32),
  priority: optional(int32),
  flags: optional(texts),
  runtime: optional(uint64),
  deadline: optional(uint64),
  period: optional(uint64),
});

/** The `process` object: of config.json, and of `exec --process`. */
export const process = z.object({
  terminal: optional(flag),
  consoleSize: optional(z.object({ height: optional(uint32), width: optional(uint32) })),
  cwd: text,
  env: optional(texts),
  args: optional(texts),
  commandLine: optional(text),
  user: optional(user),
  rlimits: optional(z.array(z.object({ type: text, soft: uint64, hard: uint64 }))),
  capabilities: optional(capabilities),
  noNewPrivileges: optional(flag),
  apparmorProfile: optional(text),
  selinuxLabel: optional(text),
  oomScoreAdj: optional(int32),
  scheduler: optional(scheduler),
  ioPriority: optional(z.object({ class: optional(text), priority: optional(int64) })),
  execCPUAffinity: optional(z.object({ initial: optional(text), final: optional(text) })),
});
