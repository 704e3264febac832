/** The OCI runtime specification 1.3 configuration for Linux: the one source of the validator and of the types. */

import { z } from "zod";
import { flag, idMapping, int32, int64, optional, text, textMap, texts, uint32, uint64 } from "./common.ts";
import { linux } from "./linux.ts";
import { resources } from "./resources.ts";

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
const process = z.object({
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

const mount = z.object({
  destination: text,
  type: optional(text),
  source: optional(text),
  options: optional(texts),
  uidMappings: optional(z.array(idMapping)),
  gidMappings: optional(z.array(idMapping)),
});

const hook = z.object({ path: text, args: optional(texts), env: optional(texts), timeout: optional(int64) }).meta({ id: "hook" });
const hookList = optional(z.array(hook));

const hooks = z.object({
  prestart: hookList,
  createRuntime: hookList,
  createContainer: hookList,
  startContainer: hookList,
  poststart: hookList,
  poststop: hookList,
});

export const spec = z.object({
  ociVersion: text,
  root: optional(z.object({ path: text, readonly: optional(flag) })),
  process: optional(process),
  hostname: optional(text),
  domainname: optional(text),
  mounts: optional(z.array(mount)),
  hooks: optional(hooks),
  annotations: optional(textMap),
  linux: optional(linux),
  // Sections of other platforms have no meaning here and are not looked into.
  windows: z.unknown().optional(),
  solaris: z.unknown().optional(),
  vm: z.unknown().optional(),
  zos: z.unknown().optional(),
  freebsd: z.unknown().optional(),
});

export { process, resources };
