import { z } from "zod";
import { optional, text, texts, uint32, uint64 } from "./common.ts";

const argument = z.object({ index: uint32, value: uint64, valueTwo: optional(uint64), op: text });

const syscall = z.object({
  names: optional(texts),
  action: text,
  errnoRet: optional(uint32),
  args: optional(z.array(argument)),
});

/** `linux.seccomp`. defaultAction may be left out here because Go's encoders write an empty profile as {}. */
export const seccomp = z.object({
  defaultAction: optional(text),
  defaultErrnoRet: optional(uint32),
  architectures: optional(texts),
  flags: optional(texts),
  listenerPath: optional(text),
  listenerMetadata: optional(text),
  syscalls: optional(z.array(syscall)),
});
