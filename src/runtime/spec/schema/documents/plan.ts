/** What `runt plan -f json` prints beside the plan itself. */
import { z } from "zod";
import { text, texts } from "../common.ts";
import { sandbox } from "./sandbox.ts";

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
