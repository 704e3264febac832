import { PERSONALITY_DOMAINS } from "../../../shared/linux/index.ts";
import { keptGroups } from "../../config/index.ts";
import { WORDS } from "../../errors/index.ts";
import { RLIMIT_TYPES } from "../../spec/index.ts";
import { defenceDisabled } from "../../testing/index.ts";
import type { Check } from "../finding.ts";

/** config, process: cwd is required and absolute. */
export const processCwd: Check = ({ process }, report) => {
  if (!process) return;
  if (process.cwd === "") report.error("cwd-empty", "/process/cwd", "process.cwd: must not be empty", 'use "/"');
  else if (!process.cwd.startsWith("/"))
    report.error("cwd-relative", "/process/cwd", `process.cwd: "${process.cwd}" is not an absolute path`);
};

/** config, process: args has at least one entry, which names the program. */
export const processArgs: Check = ({ process }, report) => {
  if (!process) return;
  if (!process.args || process.args.length === 0) report.error("args-empty", "/process/args", "process.args: must not be empty");
  else if (process.args[0] === "") report.error("args-empty", "/process/args/0", `process.args: exec: "": ${WORDS.executableNotFound}`);
};

/** setresuid(2), setgroups(2): 2^32 - 1 is no id, it means "leave it". */
const NO_ID = 0xffff_ffff;

/** limits.h, NGROUPS_MAX: setgroups(2) takes no more. */
const MOST_GROUPS = 65_536;

/** config, POSIX user: the process changes to these ids, whatever they are. */
export const userIds: Check = (spec, report) => {
  const { process } = spec;
  const { uid, gid, additionalGids } = process?.user ?? {};
  const check = (field: string, id: number | null | undefined) => {
    if (id === NO_ID) report.error("user-no-id", `/process/user/${field}`, `process.user: ${id} is no id`);
  };
  check("uid", uid);
  check("gid", gid);
  additionalGids?.forEach((id, index) => {
    check(`additionalGids/${index}`, id);
  });
  const count = additionalGids?.length ?? 0;
  if (count > MOST_GROUPS && keptGroups(spec, () => {}).keepGroups !== true)
    report.error(
      "groups-many",
      "/process/user/additionalGids",
      `process.user.additionalGids: ${count} groups, and a process can be in ${MOST_GROUPS} at most`,
    );
};

/** config, POSIX process: known types, once each; setrlimit(2) refuses a soft limit above the hard one. */
export const rlimits: Check = ({ process }, report) => {
  const seen: string[] = [];
  (process?.rlimits ?? []).forEach(({ type, soft, hard }, index) => {
    const pointer = `/process/rlimits/${index}`;
    if (!(RLIMIT_TYPES as readonly string[]).includes(type))
      report.error("rlimit-unknown", `${pointer}/type`, `process.rlimits: unknown type "${type}"`);
    else if (seen.includes(type)) report.error("rlimit-duplicate", `${pointer}/type`, `process.rlimits: ${type} is given more than once`);
    seen.push(type);
    if (soft > hard)
      report.error(
        "rlimit-order",
        `${pointer}/soft`,
        `process.rlimits: the soft limit of ${type} (${soft}) is above the hard limit (${hard})`,
      );
  });
};

/** proc(5): oom_score_adj is -1000 to 1000. */
export const oomScoreAdj: Check = ({ process }, report) => {
  const value = process?.oomScoreAdj;
  if (typeof value === "number" && (value < -1000 || value > 1000)) {
    report.error("oom-score-range", "/process/oomScoreAdj", `process.oomScoreAdj: ${value} is not between -1000 and 1000`);
  }
};

/** capabilities(7): an ambient capability must be permitted and inheritable. */
export const ambientCapabilities: Check = ({ process }, report) => {
  const { ambient, permitted, inheritable } = process?.capabilities ?? {};
  (ambient ?? []).forEach((name, index) => {
    if (permitted?.includes(name) && inheritable?.includes(name)) return;
    report.warning(
      "ambient-not-inheritable",
      `/process/capabilities/ambient/${index}`,
      `process.capabilities: can't raise ambient capability ${name}: it has to be permitted and inheritable, too`,
    );
  });
};

/** config, Linux process: a label that the kernel cannot apply is an error. "unconfined" is what a host without AppArmor gives anyway. */
export const labels: Check = ({ process, linux }, report, facts) => {
  const profile = process?.apparmorProfile;
  if (profile && !isUnconfined(profile) && facts.apparmor === false)
    report.error("apparmor-off", "/process/apparmorProfile", `process.apparmorProfile: apparmor is not enabled on this host: "${profile}"`);
  if (process?.selinuxLabel && facts.selinux === false)
    report.error(
      "selinux-off",
      "/process/selinuxLabel",
      `process.selinuxLabel: selinux is not enabled on this host: "${process.selinuxLabel}"`,
    );
  if (linux?.mountLabel && facts.selinux === false)
    report.error("selinux-off", "/linux/mountLabel", `linux.mountLabel: selinux is not enabled on this host: "${linux.mountLabel}"`);
};

function isUnconfined(profile: string): boolean {
  return profile === "unconfined" || (defenceDisabled("apparmor-word") && profile.startsWith("unconfined"));
}

const BASE = "/linux/personality";

/** config-linux, personality: a known domain, and no flag, for none is defined. */
export const personality: Check = ({ linux }, report) => {
  const asked = linux?.personality;
  if (!asked) return;
  const { domain, flags } = asked;
  if (!domain || !Object.hasOwn(PERSONALITY_DOMAINS, domain))
    report.error(
      "personality-domain",
      `${BASE}/domain`,
      domain ? `linux.personality: unknown domain "${domain}"` : "linux.personality.domain: required but missing",
      `one of ${Object.keys(PERSONALITY_DOMAINS).join(", ")}`,
    );
  flags?.forEach((flag, index) => {
    report.error("personality-flag", `${BASE}/flags/${index}`, `linux.personality: flag "${flag}" is not supported, no flag is`);
  });
};
