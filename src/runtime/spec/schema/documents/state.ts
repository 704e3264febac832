/** `runt state`: what the specification asks for, and what runc adds. */
import { z } from "zod";
import { text, textMap, uint32 } from "../common.ts";

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
