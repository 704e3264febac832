import type { Check } from "../finding.ts";

/** config, platform-specific configuration: optional, and everything that makes a container of a process. */
export const linuxGiven: Check = ({ linux }, report) => {
  if (!linux)
    report.warning("linux-missing", "/linux", "there is no linux section: the process has all namespaces of its caller, and no limits");
};
