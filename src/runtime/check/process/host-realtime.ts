/** Documentation/scheduler/sched-rt-group: on cgroup v1 real time is handed from group to group, and a new group has none. */
import { cleanPath } from "../../spec/index.ts";
import type { HostCheck } from "../host/host-check.ts";
import type { BundleView } from "../host/view.ts";

const RUNTIME = "cpu.rt_runtime_us";
const PERIOD = "cpu.rt_period_us";
/** The kernel's default for a group, in microseconds. */
const USUAL_PERIOD = 1_000_000;

/** Where the groups of the CPU controller are; undefined: this kernel does not share real time out. */
function hierarchyOf({ facts: { cgroup } }: BundleView): string | undefined {
  if (cgroup?.version !== 1 || !cgroup.files?.includes(RUNTIME)) return undefined;
  return cgroup.hierarchies?.find(({ controllers }) => controllers.includes("cpu"))?.mountpoint;
}

/** The part of the time that a group has; a group that is made for the container has none. */
function shareOf(directory: string, { text }: BundleView): number {
  const runtime = Number(text(`${directory}/${RUNTIME}`) ?? 0);
  return runtime / Number(text(`${directory}/${PERIOD}`) ?? USUAL_PERIOD);
}

/** config-linux, cpu: not more than the group above has. */
export const realtimeBudget: HostCheck = ({ linux }, report, { view }) => {
  const { realtimeRuntime, realtimePeriod } = linux?.resources?.cpu ?? {};
  const path = linux?.cgroupsPath;
  if (!realtimeRuntime || realtimeRuntime < 0 || !path?.startsWith("/") || !view.live) return;
  const hierarchy = hierarchyOf(view);
  if (hierarchy === undefined) return;
  const parent = cleanPath(path).replace(/\/[^/]*$/, "");
  // The kernel counts for the top what its own settings give.
  if (parent === "") return;
  const asked = Number(realtimeRuntime) / Number(realtimePeriod || USUAL_PERIOD);
  const given = shareOf(hierarchy + parent, view);
  if (asked > given)
    report.error(
      "cpu-realtime-budget",
      "/linux/resources/cpu/realtimeRuntime",
      `cpu.realtimeRuntime: ${percent(asked)} of the time, and the cgroup "${parent}" has ${percent(given)}`,
    );
};

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

/** sched(7): a process in a group without real time may not have a real-time policy. */
export const realtimePolicy: HostCheck = ({ process, linux }, report, { view }) => {
  const policy = process?.scheduler?.policy;
  if ((policy !== "SCHED_FIFO" && policy !== "SCHED_RR") || linux?.resources?.cpu?.realtimeRuntime) return;
  if (hierarchyOf(view) !== undefined)
    report.error("cpu-realtime-none", "/process/scheduler/policy", `process.scheduler: ${policy} in a cgroup that has no real time`);
};
