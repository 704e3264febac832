import type { HostCheck } from "../host/host-check.ts";

/** time_namespaces(7): the clocks, with their offsets, do not go below zero. */
export const clocks: HostCheck = ({ linux }, report, { view }) => {
  if (!view.live || !linux?.timeOffsets) return;
  const uptime = Number(view.text("/proc/uptime")?.split(" ", 1)[0]);
  if (!Number.isFinite(uptime)) return;
  for (const clock of ["monotonic", "boottime"]) {
    const secs = Number(linux.timeOffsets[clock]?.secs ?? 0);
    // boottime also counts the time that the machine has slept, which makes it no smaller.
    if (secs + uptime < 0)
      report.error(
        "time-offset-negative",
        `/linux/timeOffsets/${clock}/secs`,
        `linux.timeOffsets: ${secs} s would set the ${clock} clock back below zero, the host is up for ${Math.floor(uptime)} s`,
      );
  }
};
