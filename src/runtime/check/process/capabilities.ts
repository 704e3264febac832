import type { Check } from "../finding.ts";

/** capabilities(7): nothing is effective that is not permitted. */
export const effectiveCapabilities: Check = ({ process }, report) => {
  const { effective, permitted } = process?.capabilities ?? {};
  effective?.forEach((name, index) => {
    if (permitted?.includes(name)) return;
    report.warning(
      "capability-not-permitted",
      `/process/capabilities/effective/${index}`,
      `${name} is not permitted, so that it cannot be effective and is left out`,
      "add it to permitted",
    );
  });
};

/** capabilities(7): execve by a user other than root leaves nothing of the effective set but what is ambient. */
export const ambientForUsers: Check = ({ process }, report) => {
  const { effective, ambient } = process?.capabilities ?? {};
  if (!process?.user?.uid || !effective || effective.length === 0) return;
  const lost = effective.filter((name) => !ambient?.includes(name));
  if (lost.length === 0 || (ambient && ambient.length > 0)) return;
  report.advice(
    "capabilities-lost",
    "/process/capabilities/effective",
    `uid ${process.user.uid} loses ${lost.length === 1 ? lost[0] : `all ${lost.length} capabilities`} when the program is executed`,
    "add what it needs to ambient (and inheritable), or leave the set empty",
  );
};
