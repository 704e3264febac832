/** What `runt plan -f json` says of a sandbox, of a container in one, and of a single container with limits. */
import { z } from "zod";
import { text, texts } from "../common.ts";

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

export const sandbox = z.object({
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
