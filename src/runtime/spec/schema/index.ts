/** The OCI runtime specification 1.3 configuration for Linux: the one source of the validator and of the types. */
import { z } from "zod";
import { flag, idMapping, int64, optional, text, textMap, texts } from "./common.ts";
import { linux } from "./linux.ts";
import { process } from "./process.ts";
import { resources } from "./resources.ts";

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
