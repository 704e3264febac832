/** What `runt plan -f json` prints beside the plan itself. */

import { z } from "zod";
import { text, texts } from "../common.ts";

/**
 * What `runt plan -f json` says of a sandbox, of a container in one, and of a single container with
 * limits.
 */
const size = z.object({
  /** CPUs, not rounded; 0: no limit. */
  cpus: z.number(),
  /** Rounded down; 0: no limit. */
  memoryMiB: z.number(),
  /** What these and a machine's own parts come to. */
  machine: z.object({ vcpus: z.number(), memoryMiB: z.number() }),
  /** JSON pointers of what it was made from. */
  from: texts,
});

const sandbox = z.object({
  /** single: it has nothing to do with a pod. */
  type: z.enum(["sandbox", "container", "single"]),
  manager: z.enum(["containerd", "cri-o", "dockershim"]).optional(),
  /** Of the sandbox. */
  id: text.optional(),
  size: size.optional(),
  /** What is mounted at /dev/shm: a tmpfs of that many bytes, or a bind of that path. */
  shm: z.object({ bytes: z.number().optional(), source: text.optional() }).optional(),
  /** JSON pointers of the annotations that say so. */
  from: texts,
});

/** SHA-256, lower-case hex. */
const digest = text;

export const planExtras = z.object({
  /** "sha256:..." of the parts. */
  digest,
  parts: z.object({ plan: digest, config: digest, host: digest, sources: digest }),
  /** What was asked of the host, by question. */
  host: z.record(text, z.unknown()),
  /** Sources of bind mounts on this host; empty for a recorded one. */
  sources: z.array(
    z.object({
      /** JSON pointer of the mount. */
      from: text,
      path: text,
      /** "DEVICE:INODE", or "absent". */
      identity: text,
    }),
  ),
  warnings: texts,
  /** Of a container in a machine: the plan that is carried out there, with the members version, id, slots and ops. */
  guest: z.record(text, z.unknown()).optional(),
  /** Of a pod, or with limits of its own; nothing of it is done. */
  sandbox: sandbox.optional(),
});
