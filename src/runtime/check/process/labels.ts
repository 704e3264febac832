import { defenceDisabled } from "../../testing/index.ts";
import type { Check } from "../finding.ts";

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
