import type { Check } from "../finding.ts";

/** time_namespaces(7): half of what the kernel's clocks can hold (KTIME_SEC_MAX), in seconds. */
const MOST = 9_223_372_036n / 2n;

/** config-linux, time offset: one that no kernel takes, however long it has been up. */
export const timeRange: Check = ({ linux }, report) => {
  for (const clock of ["monotonic", "boottime"]) {
    const secs = linux?.timeOffsets?.[clock]?.secs;
    if (secs === null || secs === undefined || (BigInt(secs) <= MOST && BigInt(secs) >= -MOST)) continue;
    report.error(
      "time-offset-range",
      `/linux/timeOffsets/${clock}/secs`,
      `linux.timeOffsets: ${clock}.secs ${secs} is out of the kernel's range`,
    );
  }
};
