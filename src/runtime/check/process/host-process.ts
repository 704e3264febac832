import { CAPABILITIES } from "../../../shared/linux/index.ts";
import { DEFAULT_DEVICES } from "../../config/index.ts";
import { cleanPath, cleanTarget, closeNames, type Spec } from "../../spec/index.ts";
import { findThroughOwnLink, mayExecute, modeText, userOf } from "../host/access.ts";
import type { ContainerFiles, HostCheck } from "../host/container-files.ts";
import { isReadOnly, kernelFile } from "../host/kernel-files.ts";
import { whyNotMade } from "../host/making.ts";
import type { BundleView } from "../host/view.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import { callerArgumentSizes } from "./arguments.ts";

/** As capable() of the kernel: for the limits and the score of a process, only a capability in the first user namespace counts. */
function isCapable({ facts: { caller } }: BundleView, name: string): boolean {
  return caller !== undefined && !caller.inUserNamespace && caller.effective.includes(name);
}

/** setrlimit(2): no more open files than fs.nr_open, and no hard limit raised without CAP_SYS_RESOURCE. */
export const rlimitsOfHost: HostCheck = ({ process }, report, { view }) => {
  const { facts } = view;
  process?.rlimits?.forEach(({ type, hard }, index) => {
    const pointer = `/process/rlimits/${index}/hard`;
    const most = type === "RLIMIT_NOFILE" ? (facts.limits?.nrOpen ?? 0) : 0;
    if (most > 0 && BigInt(hard) > BigInt(most)) {
      report.error("rlimit-nofile", pointer, `${hard} open files are more than this kernel allows (fs.nr_open is ${most})`);
      return;
    }
    const own = facts.caller?.rlimits[type]?.[1];
    if (own === undefined || own === "unlimited" || isCapable(view, "CAP_SYS_RESOURCE")) return;
    if (BigInt(hard) > BigInt(own))
      report.error(
        "rlimit-raise",
        pointer,
        `the hard limit of ${type} would be raised from ${own} to ${hard}, which takes CAP_SYS_RESOURCE`,
      );
  });
};

/**
 * proc(5), oom_score_adj: lower than the least value that a process with CAP_SYS_RESOURCE has set takes this capability. The kernel does not show
 * the least value. It is the caller's own one, unless the caller or a parent has raised it since.
 */
export const oomScoreOfCaller: HostCheck = ({ process }, report, { view }) => {
  const wanted = process?.oomScoreAdj;
  if (typeof wanted !== "number" || !view.live || isCapable(view, "CAP_SYS_RESOURCE")) return;
  const own = Number(view.text("/proc/self/oom_score_adj") ?? -1000);
  if (wanted >= own) return;
  const what = `oomScoreAdj would be lowered from ${own} to ${wanted}, which`;
  if (wanted < 0) report.error("oom-score-lower", "/process/oomScoreAdj", `${what} takes CAP_SYS_RESOURCE`);
  else report.warning("oom-score-minimum", "/process/oomScoreAdj", `${what} the kernel may refuse without CAP_SYS_RESOURCE`);
};

/** ioprio_set(2): a user namespace of the container does not give the right either (ioPriority). */
export const ioPriorityOfCaller: HostCheck = (spec, report, { view }) => {
  if (spec.process?.ioPriority?.class !== "IOPRIO_CLASS_RT" || namespaceOf(spec, "user") || view.facts.caller === undefined) return;
  if (isCapable(view, "CAP_SYS_NICE") || isCapable(view, "CAP_SYS_ADMIN")) return;
  const what = "process.ioPriority: IOPRIO_CLASS_RT takes CAP_SYS_NICE or CAP_SYS_ADMIN on the host";
  report.error("io-priority-rights", "/process/ioPriority/class", what, "use IOPRIO_CLASS_BE");
};

/** execve(2): the stack limits what a program is started with. */
export const argumentsOfHost: HostCheck = (spec, report, { view: { facts } }) => {
  callerArgumentSizes(spec, report, facts.caller?.rlimits["RLIMIT_STACK"]?.[0]);
};

const PROFILES = "/sys/kernel/security/apparmor/profiles";

/** apparmor(7): the profile is loaded. */
export const apparmorProfile: HostCheck = ({ process }, report, { view }) => {
  const profile = process?.apparmorProfile;
  if (!profile || profile === "unconfined" || !view.live) return;
  const text = view.text(PROFILES);
  if (text === undefined) return;
  const names = text.split("\n").map((line) => line.replace(/ \([a-z]+\)$/, ""));
  if (names.includes(profile)) return;
  const close = closeNames(profile, names);
  const meant = close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
  report.error("apparmor-profile", "/process/apparmorProfile", `the profile "${profile}" is not loaded${meant}`);
};

const SETS = ["bounding", "permitted"] as const;

/** capabilities(7): a process can only give what is in its own bounding set. (In a new user namespace it has them all.) */
export const boundCapabilities: HostCheck = (spec, report, { view: { facts } }) => {
  const { capabilities } = spec.process ?? {};
  if (!capabilities || namespaceOf(spec, "user")) return;
  const own = facts.caller?.bounding ?? [];
  if (own.length === 0) return;
  for (const set of SETS) {
    capabilities[set]?.forEach((name, index) => {
      if (own.includes(name) || !(CAPABILITIES as readonly string[]).includes(name)) return;
      report.warning(
        "capability-unavailable",
        `/process/capabilities/${set}/${index}`,
        `the runtime does not have ${name} itself, so that it is left out`,
      );
    });
  }
};

const RUNTIME = "cpu.rt_runtime_us";
const PERIOD = "cpu.rt_period_us";
/** The kernel's default for a group, in microseconds. */
const USUAL_PERIOD = 1_000_000;

/**
 * Documentation/scheduler/sched-rt-group: on cgroup v1 real time is handed from group to group, and a
 * new group has none. Where the groups of the CPU controller are; undefined: this kernel does not
 * share real time out.
 */
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

const POINTER = "/process/cwd";

/** A relative path counts from the root, as create takes masked paths. */
function isBelow(path: string, above: string): boolean {
  return cleanTarget(path).startsWith(`${cleanTarget(above)}/`);
}

/** Whether a directory is at a path on the way to the working directory, which is made before paths are masked. */
function isDirectory(spec: Spec, files: ContainerFiles, view: BundleView, path: string): boolean {
  const there = findThroughOwnLink(spec, files, path);
  if (there.status === "missing") return true;
  return there.status === "found" ? there.facts.kind === "directory" : kernelFile(spec, there, view) === "directory";
}

/** config, process: cwd is a directory that the user may enter. One that is not there is made, where it can be. */
export const workingDirectory: HostCheck = (spec, report, { view, files }) => {
  const cwd = spec.process?.cwd;
  if (files === undefined || !cwd?.startsWith("/")) return;
  const found = findThroughOwnLink(spec, files, cwd);
  const at = found.status === "found" ? found.path : cwd;
  const mask = spec.linux?.maskedPaths?.find((path) => isBelow(at, path) && isDirectory(spec, files, view, path));
  if (mask !== undefined) {
    report.error("cwd-not-made", POINTER, `"${cwd}" is not there: linux.maskedPaths hides what is in "${mask}"`);
    return;
  }
  if (found.status === "opaque" && DEFAULT_DEVICES.some(({ path }) => path === cleanPath(cwd))) {
    report.error("cwd-not-directory", POINTER, `"${cwd}" is a device, not a directory`);
    return;
  }
  switch (found.status) {
    case "not-a-directory":
      report.error("cwd-not-directory", POINTER, `"${found.parent}", on the way to "${cwd}", is not a directory`);
      return;
    case "loop":
      report.error("path-links", POINTER, `"${cwd}" leads over links in a circle, or over too many of them`);
      return;
    case "opaque": {
      const there = kernelFile(spec, found, view);
      if (there === "magic") report.error("path-links", POINTER, `"${cwd}" leads over a link of the kernel's to what a process has open`);
      else if (there === "file") report.error("cwd-not-directory", POINTER, `"${cwd}" is a file, not a directory`);
      else if (there === "missing")
        report.error(
          "cwd-not-made",
          POINTER,
          `"${cwd}" is not there and cannot be made: only the kernel makes directories in ${found.layer.at}`,
        );
      else if (there === "unknown" && isReadOnly(found.layer.options) && isEmpty(spec.mounts?.[found.layer.index]?.type))
        report.error("cwd-not-made", POINTER, `"${cwd}" is not there and cannot be made: the mount of ${found.layer.at} is read-only`);
      return;
    }
    case "missing": {
      const refusal = whyNotMade(found, spec, files, view);
      if (refusal) report.error("cwd-not-made", POINTER, `"${cwd}" is not there and cannot be made: ${refusal.reason}`);
      else if (found.layer.index === -1 && !spec.root?.readonly)
        report.advice("cwd-missing", POINTER, `"${cwd}" is not in the root filesystem and is made, empty and owned by root`);
      return;
    }
    case "found":
      break;
  }
  if (found.facts.kind !== "directory") {
    report.error("cwd-not-directory", POINTER, `"${cwd}" is a ${found.facts.kind}, not a directory`);
    return;
  }
  const user = userOf(spec);
  if (user && user.uid > 0 && !mayExecute(user, found.facts))
    report.error("cwd-denied", POINTER, `${user.name} may not enter "${cwd}" (${modeText(found.facts)})`);
};

/** A new filesystem of this type has nothing in it. */
const isEmpty = (type: string | null | undefined): boolean => type === "tmpfs" || type === "ramfs";
