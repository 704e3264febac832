import { z } from "zod";
import { flag, idMapping, int64, optional, text, textMap, texts, uint32, uint64 } from "./common.ts";
import { resources } from "./resources.ts";

const argument = z.object({ index: uint32, value: uint64, valueTwo: optional(uint64), op: text });

const syscall = z.object({
  names: optional(texts),
  action: text,
  errnoRet: optional(uint32),
  args: optional(z.array(argument)),
});

/** `linux.seccomp`. defaultAction may be left out here because Go's encoders write an empty profile as {}. */
const seccomp = z.object({
  defaultAction: optional(text),
  defaultErrnoRet: optional(uint32),
  architectures: optional(texts),
  flags: optional(texts),
  listenerPath: optional(text),
  listenerMetadata: optional(text),
  syscalls: optional(z.array(syscall)),
});

const device = z.object({
  path: text,
  type: text,
  major: optional(int64),
  minor: optional(int64),
  fileMode: optional(uint32),
  uid: optional(uint32),
  gid: optional(uint32),
});

const intelRdt = z.object({
  closID: optional(text),
  schemata: optional(texts),
  l3CacheSchema: optional(text),
  memBwSchema: optional(text),
  enableCMT: optional(flag),
  enableMBM: optional(flag),
  enableMonitoring: optional(flag),
});

/** The `linux` object (config-linux). */
export const linux = z.object({
  namespaces: optional(z.array(z.object({ type: text, path: optional(text) }))),
  uidMappings: optional(z.array(idMapping)),
  gidMappings: optional(z.array(idMapping)),
  timeOffsets: optional(z.record(text, z.object({ secs: optional(int64), nanosecs: optional(uint32) }))),
  devices: optional(z.array(device)),
  netDevices: optional(z.record(text, z.object({ name: optional(text) }))),
  cgroupsPath: optional(text),
  resources: optional(resources),
  rootfsPropagation: optional(text),
  seccomp: optional(seccomp),
  sysctl: optional(textMap),
  maskedPaths: optional(texts),
  readonlyPaths: optional(texts),
  mountLabel: optional(text),
  intelRdt: optional(intelRdt),
  memoryPolicy: optional(z.object({ mode: optional(text), nodes: optional(text), flags: optional(texts) })),
  personality: optional(z.object({ domain: optional(text), flags: optional(texts) })),
});
