import type { Check } from "../finding.ts";

/** selinux(8): user:role:type, and with multi-level security a range (s0-s0:c1,c2) behind it. */
const LABEL = /^[^:\s]+:[^:\s]+:[^:\s]+(?::[^\s]+)?$/;

/** config, SELinux label and mount label: one the kernel can read. */
export const labelForm: Check = ({ process, linux }, report) => {
  const look = (pointer: string, label: string | null | undefined) => {
    if (label && !LABEL.test(label)) report.warning("label-form", pointer, `"${label}" is not of the form user:role:type:level`);
  };
  look("/process/selinuxLabel", process?.selinuxLabel);
  look("/linux/mountLabel", linux?.mountLabel);
};
