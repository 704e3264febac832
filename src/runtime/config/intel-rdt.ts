import type { SpecLinux } from "../spec/index.ts";
import type { IntelRdtConfig } from "./types.ts";
import type { Warn } from "./warnings.ts";

/** linux.intelRdt: the lines in the order in which they are written (config-linux, IntelRdt). */
export function deriveIntelRdt(intelRdt: NonNullable<SpecLinux["intelRdt"]>, warn: Warn): IntelRdtConfig {
  for (const field of ["enableCMT", "enableMBM"] as const) {
    // In the specification from 1.1.0 to 1.2.1, with no meaning that anybody implemented.
    if (intelRdt[field])
      warn("intel-rdt-ignored", `/linux/intelRdt/${field}`, `linux.intelRdt.${field} has no effect, enableMonitoring has`);
  }
  const { closID, l3CacheSchema, memBwSchema, schemata } = intelRdt;
  return {
    ...(closID && { closId: closID }),
    schemata: [l3CacheSchema ?? "", memBwSchema ?? "", ...(schemata ?? [])].filter((line) => line !== ""),
    monitoring: intelRdt.enableMonitoring === true,
  };
}
