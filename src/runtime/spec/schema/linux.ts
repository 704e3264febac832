import { z } from "zod";
import { flag, idMapping, int64, optional, text, textMap, texts, uint32 } from "./common.ts";
import { resources } from "./resources.ts";
import { seccomp } from "./seccomp.ts";

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
