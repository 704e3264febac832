/** Mutants that no test can tell from runt, with the reason. */
export const EXPLAINED: Readonly<Record<string, string>> = {
  "op/label.set": "without AppArmor and SELinux nothing has a label: LSM-01 is skipped there",
};
