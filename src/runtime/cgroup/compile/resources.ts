import type { ResourceConfig } from "../../config/index.ts";
import type { Sink } from "./sink.ts";
import type { CgroupOptions } from "./steps.ts";
import { writeV1 } from "./v1.ts";
import { writeV2 } from "./v2.ts";

/** What the files of a version of cgroups are given. Of device rules, which on v2 a program does, only that they are left out. */
export function writeResources(version: 1 | 2, sink: Sink, resources: ResourceConfig, options: CgroupOptions): void {
  if (version === 1) writeV1(sink, resources, options);
  else writeV2(sink, resources);
  if (options.rootless && resources.devices.length > 0) sink.warn("devices", "device rules need rights on the host and are left out");
}
