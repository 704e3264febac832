import type { HostCheck } from "../host/host-check.ts";
import { callerArgumentSizes } from "./arguments.ts";

/** setrlimit(2): no more open files than fs.nr_open, and no hard limit raised without CAP_SYS_RESOURCE. */
export const rlimitsOfHost: HostCheck = ({ process }, report, { view: { facts } }) => {
  process?.rlimits?.forEach(({ type, hard }, index) => {
    const pointer = `/process/rlimits/${index}/hard`;
    const most = type === "RLIMIT_NOFILE" ? (facts.limits?.nrOpen ?? 0) : 0;
    if (most > 0 && BigInt(hard) > BigInt(most)) {
      report.error("rlimit-nofile", pointer, `${hard} open files are more than this kernel allows (fs.nr_open is ${most})`);
      return;
    }
    const { caller } = facts;
    const own = caller?.rlimits[type]?.[1];
    if (own === undefined || own === "unlimited" || caller?.effective.includes("CAP_SYS_RESOURCE")) return;
    if (BigInt(hard) > BigInt(own))
      report.error(
        "rlimit-raise",
        pointer,
        `the hard limit of ${type} would be raised from ${own} to ${hard}, which takes CAP_SYS_RESOURCE`,
      );
  });
};

/** proc(5), oom_score_adj: lower than the own one takes CAP_SYS_RESOURCE. */
export const oomScoreOfCaller: HostCheck = ({ process }, report, { view }) => {
  const wanted = process?.oomScoreAdj;
  if (!wanted || wanted >= 0 || !view.live || view.facts.caller?.effective.includes("CAP_SYS_RESOURCE")) return;
  const own = Number(view.text("/proc/self/oom_score_adj") ?? -1000);
  if (wanted < own)
    report.error(
      "oom-score-lower",
      "/process/oomScoreAdj",
      `oomScoreAdj would be lowered from ${own} to ${wanted}, which takes CAP_SYS_RESOURCE`,
    );
};

/** execve(2): the stack limits what a program is started with. */
export const argumentsOfHost: HostCheck = (spec, report, { view: { facts } }) => {
  callerArgumentSizes(spec, report, facts.caller?.rlimits["RLIMIT_STACK"]?.[0]);
};
