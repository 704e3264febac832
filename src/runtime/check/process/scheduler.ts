import { IO_PRIORITY_CLASSES, SCHEDULER_FLAGS, SCHEDULER_POLICIES } from "../../../shared/linux/index.ts";
import type { SpecProcess } from "../../spec/index.ts";
import type { Check, Report } from "../finding.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";

type Scheduler = NonNullable<SpecProcess["scheduler"]>;

const BASE = "/process/scheduler";
/** sched(7): the policies in which a nice value counts. */
const FAIR = ["SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE"];
const REAL_TIME = ["SCHED_FIFO", "SCHED_RR"];
/** sched(7): static priorities of real-time policies. */
const HIGHEST_PRIORITY = 99;
/** sched_setattr(2): the granularity of SCHED_DEADLINE, in nanoseconds, and the bit that must stay clear. */
const SHORTEST_RUNTIME = 1024n;
const TOO_LONG = 1n << 63n;

/** config, Linux process: the policy is required and known, and every other property is one that it has. */
export const scheduler: Check = ({ process }, report) => {
  const asked = process?.scheduler;
  if (!asked) return;
  const { policy } = asked;
  const names = Object.keys(SCHEDULER_POLICIES).join(", ");
  if (!policy) report.error("scheduler-policy", `${BASE}/policy`, "process.scheduler.policy: required but missing", `one of ${names}`);
  else if (!Object.hasOwn(SCHEDULER_POLICIES, policy))
    report.error("scheduler-policy", `${BASE}/policy`, `process.scheduler: unknown policy "${policy}"`, `one of ${names}`);
  else {
    checkNice(policy, asked, report);
    checkPriority(policy, asked, report);
    checkDeadline(policy, asked, report);
  }
  asked.flags?.forEach((flag, index) => {
    if (!Object.hasOwn(SCHEDULER_FLAGS, flag))
      report.error("scheduler-flag", `${BASE}/flags/${index}`, `process.scheduler: unknown flag "${flag}"`);
  });
};

/** The kernel takes what the process has already. */
function keepsParameters({ flags }: Scheduler): boolean {
  return flags?.some((flag) => flag === "SCHED_FLAG_KEEP_PARAMS" || flag === "SCHED_FLAG_KEEP_POLICY") === true;
}

function checkNice(policy: string, { nice }: Scheduler, report: Report): void {
  if (!nice) return;
  if (!FAIR.includes(policy))
    report.warning("scheduler-nice-ignored", `${BASE}/nice`, `process.scheduler: a nice value has no effect with ${policy}`);
  else if (nice < -20 || nice > 19)
    report.error("scheduler-nice", `${BASE}/nice`, `process.scheduler: nice ${nice} of ${policy} is not between -20 and 19`);
}

function checkPriority(policy: string, asked: Scheduler, report: Report): void {
  const priority = asked.priority ?? 0;
  if (!REAL_TIME.includes(policy)) {
    if (priority !== 0)
      report.error("scheduler-priority", `${BASE}/priority`, "process.scheduler: a priority is for SCHED_FIFO and SCHED_RR only");
  } else if ((priority < 1 || priority > HIGHEST_PRIORITY) && !keepsParameters(asked))
    report.error("scheduler-priority", `${BASE}/priority`, `process.scheduler: priority ${priority} of ${policy} is not between 1 and 99`);
}

function checkDeadline(policy: string, asked: Scheduler, report: Report): void {
  const times = (["runtime", "deadline", "period"] as const).map((field) => [field, BigInt(asked[field] ?? 0)] as const);
  if (policy !== "SCHED_DEADLINE") {
    const given = times.find(([, value]) => value !== 0n);
    if (given)
      report.error(
        "scheduler-deadline",
        `${BASE}/${given[0]}`,
        `process.scheduler: ${given[0]} is for SCHED_DEADLINE only, not for ${policy}`,
      );
    return;
  }
  if (keepsParameters(asked)) return;
  const [runtime, deadline, period] = times.map(([, value]) => value) as [bigint, bigint, bigint];
  const refuse = (field: string, message: string) =>
    report.error(
      "scheduler-deadline",
      `${BASE}/${field}`,
      `process.scheduler: ${message}`,
      "runtime <= deadline <= period, in nanoseconds",
    );
  if (runtime < SHORTEST_RUNTIME) refuse("runtime", `runtime ${runtime} is below ${SHORTEST_RUNTIME} nanoseconds`);
  else if (deadline < runtime) refuse("deadline", `deadline ${deadline} is shorter than runtime ${runtime}`);
  else if (period !== 0n && period < deadline) refuse("period", `period ${period} is shorter than deadline ${deadline}`);
  else if (deadline >= TOO_LONG || period >= TOO_LONG) refuse(deadline >= TOO_LONG ? "deadline" : "period", "2^63 nanoseconds or more");
}

/** config, Linux process: class and priority are required; without a priority the peers take 0, which is what Go makes of a missing number. */
export const ioPriority: Check = (spec, report) => {
  const asked = spec.process?.ioPriority;
  if (!asked) return;
  if (asked.class === "IOPRIO_CLASS_RT" && namespaceOf(spec, "user") !== undefined)
    report.error(
      "io-priority-rights",
      "/process/ioPriority/class",
      "process.ioPriority: IOPRIO_CLASS_RT needs a capability of the host, which a user namespace does not give",
      "use IOPRIO_CLASS_BE",
    );
  const classes = Object.keys(IO_PRIORITY_CLASSES).join(", ");
  if (!asked.class || !Object.hasOwn(IO_PRIORITY_CLASSES, asked.class))
    report.error(
      "io-priority-class",
      "/process/ioPriority/class",
      asked.class ? `process.ioPriority: unknown class "${asked.class}"` : "process.ioPriority.class: required but missing",
      `one of ${classes}`,
    );
  const { priority } = asked;
  const pointer = "/process/ioPriority/priority";
  if (priority === null || priority === undefined)
    report.warning("io-priority-missing", pointer, "process.ioPriority.priority: missing, and taken as 0, the highest", "0 to 7");
  else if (priority < 0 || priority > 7)
    report.error("io-priority-level", pointer, `process.ioPriority: priority ${priority} is not between 0 and 7`);
};
