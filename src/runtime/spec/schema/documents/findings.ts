/** `runt validate -f json`. */
import { z } from "zod";
import { text, uint32 } from "../common.ts";

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

export const findings = z.object({
  file: text,
  /** "live host, cgroup v2", "no host", ... */
  host: text,
  counts: z.object({ error: uint32, warning: uint32, advice: uint32 }),
  findings: z.array(finding),
});
