import type { Check } from "../finding.ts";

const BASE = "/linux/intelRdt";
/** What resctrl itself keeps in its root directory. */
const NO_GROUPS = [".", "..", "info", "mon_groups", "mon_data"];

/** config-linux, IntelRdt: closID is the name of one directory, or "/" for the default group. */
export const intelRdtGroup: Check = ({ linux }, report) => {
  const closId = linux?.intelRdt?.closID;
  if (!closId || closId === "/") return;
  if (!NO_GROUPS.includes(closId) && !/[/\n\0]/.test(closId)) return;
  report.error("intel-rdt-group", `${BASE}/closID`, `linux.intelRdt: closID ${JSON.stringify(closId)} is no name of a group`);
};

/** config-linux, IntelRdt: every schema is one line, that of the memory bandwidth starts with MB:. */
export const intelRdtSchemas: Check = ({ linux }, report) => {
  const { l3CacheSchema, memBwSchema, schemata } = linux?.intelRdt ?? {};
  const line = (field: string, text: string | null | undefined) => {
    if (text && /[\n\0]/.test(text)) report.error("intel-rdt-line", `${BASE}/${field}`, `linux.intelRdt: ${field} must be one line`);
  };
  line("l3CacheSchema", l3CacheSchema);
  line("memBwSchema", memBwSchema);
  schemata?.forEach((text, index) => {
    line(`schemata/${index}`, text);
  });
  if (memBwSchema && !memBwSchema.startsWith("MB:"))
    report.error("intel-rdt-bandwidth", `${BASE}/memBwSchema`, 'linux.intelRdt: memBwSchema must start with "MB:"');
  if (l3CacheSchema && !l3CacheSchema.startsWith("L3:"))
    report.warning("intel-rdt-cache", `${BASE}/l3CacheSchema`, 'linux.intelRdt: l3CacheSchema should start with "L3:"');
};
