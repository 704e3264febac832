import type { Check } from "../finding.ts";

/** config, process: required by start, not by create. */
export const processGiven: Check = ({ process }, report) => {
  if (!process) report.warning("process-missing", "/process", "there is no process: the container can be created, not started");
};

/** IEEE Std 1003.1, environment variables: names that a shell can use. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** config, process env: names and values that programs can read. (What create refuses is seen to where it is derived.) */
export const envEntries: Check = ({ process }, report) => {
  process?.env?.forEach((entry, index) => {
    const equals = entry.indexOf("=");
    if (equals < 1) return;
    const pointer = `/process/env/${index}`;
    const name = entry.slice(0, equals);
    if (!NAME.test(name))
      report.advice("env-name", pointer, `"${name}" is no name that a shell can use`, "letters, digits and _, not a digit first");
    if (name === "PATH" && /(?:^|:)(?:$|:|[^/:])/.test(entry.slice(equals + 1)))
      report.advice("path-relative", pointer, `an element of "${entry}" is not absolute, and is looked up from the working directory`);
  });
};

/** execvp(3): a name without a slash is looked up in PATH, of the container. */
export const searchPath: Check = ({ process }, report) => {
  const program = process?.args?.[0];
  if (!process || !program || program.includes("/")) return;
  // Of several entries the last one counts.
  const path = process.env?.findLast((entry) => entry.startsWith("PATH="));
  if (path !== undefined && path !== "PATH=") return;
  report.error(
    "path-missing",
    "/process/args/0",
    `"${program}" cannot be found: process.env has no PATH to look in`,
    "add a PATH to process.env, or write the program with its directory",
  );
};

/** config, process: consoleSize is for a terminal, and programs on a terminal ask for TERM. */
export const terminalSettings: Check = ({ process }, report) => {
  if (!process) return;
  const { terminal, consoleSize, env } = process;
  if (!terminal) {
    if (consoleSize?.height || consoleSize?.width)
      report.advice("console-size-ignored", "/process/consoleSize", "process.consoleSize has no effect without a terminal");
    return;
  }
  for (const entry of env ?? []) if (entry.startsWith("TERM=")) return;
  report.advice("term-missing", "/process/terminal", "the process gets a terminal, and no TERM in process.env to know which kind");
};

/** execve(2) needs a page for the stack before there is anything else. */
const LEAST_SPACE = 4096n;

/** getrlimit(2), RLIMIT_AS: room for a program. */
export const addressSpace: Check = ({ process }, report) => {
  process?.rlimits?.forEach(({ type, soft }, index) => {
    if (type !== "RLIMIT_AS" || BigInt(soft) >= LEAST_SPACE || BigInt(soft) < 0n) return;
    report.error("address-space-tiny", `/process/rlimits/${index}/soft`, `RLIMIT_AS: in ${soft} bytes no program can be executed`);
  });
};

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
