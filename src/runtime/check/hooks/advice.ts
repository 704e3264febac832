import { HOOK_KINDS } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** config, POSIX-platform hooks: args is what execv(3) takes, the program's name first; env has entries NAME=value. */
export const hookArguments: Check = ({ hooks }, report) => {
  for (const kind of HOOK_KINDS) {
    hooks?.[kind]?.forEach(({ args, env }, index) => {
      const pointer = `/hooks/${kind}/${index}`;
      if (args && args.length === 0)
        report.advice("hook-args-empty", `${pointer}/args`, `hooks.${kind}[${index}]: args is empty, the path is put first`);
      env?.forEach((entry, position) => {
        if (entry.indexOf("=") > 0) return;
        report.warning(
          "hook-env-syntax",
          `${pointer}/env/${position}`,
          `hooks.${kind}[${index}]: "${entry}" is not of the form NAME=value, the hook gets it as it is`,
        );
      });
    });
  }
};

/** Those that create and start wait for. */
const BLOCKING = ["prestart", "createRuntime", "createContainer", "startContainer"] as const;

/** A hook that hangs would hang the runtime with it. */
export const hookTimeouts: Check = ({ hooks }, report) => {
  for (const kind of BLOCKING) {
    hooks?.[kind]?.forEach(({ timeout }, index) => {
      if (timeout === null || timeout === undefined)
        report.advice(
          "hook-without-timeout",
          `/hooks/${kind}/${index}`,
          `hooks.${kind}[${index}]: a hook that hangs stops the container's creation for ever`,
        );
    });
  }
};
