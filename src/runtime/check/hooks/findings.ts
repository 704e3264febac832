/** Findings about hooks. */
import { type Entries, entry } from "../catalogue/entry.ts";

const HOOKS = "config.md#posix-platform-hooks";
const hook = (change: object = {}) => ({ path: "/usr/bin/hook", timeout: 5, ...change });

export const HOOKS_OF_ALL_KINDS: Entries = {
  "hook-path-relative": entry(
    "error",
    "A hook whose path is not absolute",
    HOOKS,
    "A relative path has no starting directory.",
    "begin it with /",
    {
      broken: { "/hooks": { poststop: [{ path: "usr/bin/hook" }] } },
      fixed: { "/hooks": { poststop: [{ path: "/usr/bin/hook" }] } },
      at: "/hooks/poststop/0/path",
    },
  ),
  "hook-timeout": entry(
    "error",
    "A hook's timeout that is not greater than zero",
    HOOKS,
    "It is in seconds.",
    "leave it out for no limit",
    {
      broken: { "/hooks": { poststop: [hook({ timeout: 0 })] } },
      fixed: { "/hooks": { poststop: [hook()] } },
      at: "/hooks/poststop/0/timeout",
    },
  ),
  "hook-without-timeout": entry(
    "advice",
    "A hook without a timeout, for which create waits",
    HOOKS,
    "If it hangs, the runtime hangs.",
    "set timeout, in seconds",
    {
      broken: { "/hooks": { createRuntime: [{ path: "/usr/bin/hook" }] } },
      fixed: { "/hooks": { createRuntime: [hook()] } },
      at: "/hooks/createRuntime/0",
    },
  ),
  "hook-args-empty": entry(
    "advice",
    "A hook with an empty list of arguments",
    HOOKS,
    "args has the arguments for execv(3), beginning with the name of the program. With an empty list runt uses the path.",
    "leave args out, or name the program first",
    {
      broken: { "/hooks": { poststop: [hook({ args: [] })] } },
      fixed: { "/hooks": { poststop: [hook({ args: ["hook"] })] } },
      at: "/hooks/poststop/0/args",
    },
  ),
  "hook-env-syntax": entry(
    "warning",
    "An entry of a hook's env that is not NAME=value",
    HOOKS,
    "It is passed unchanged; few programs can read it.",
    "write NAME=value",
    {
      broken: { "/hooks": { poststop: [hook({ env: ["DEBUG"] })] } },
      fixed: { "/hooks": { poststop: [hook({ env: ["DEBUG=1"] })] } },
      at: "/hooks/poststop/0/env/0",
    },
  ),
  "hook-missing": entry(
    "error",
    "A missing hook",
    HOOKS,
    "startContainer is looked up in the container, all others on the host.",
    "correct the path, or install it",
    {
      broken: { "/hooks": { prestart: [hook({ path: "/usr/bin/hok" })] } },
      fixed: { "/hooks": { prestart: [hook()] } },
      at: "/hooks/prestart/0/path",
    },
  ),
  "hook-not-executable": entry(
    "error",
    "A hook that cannot be executed",
    HOOKS,
    "It must be a regular file with an execute bit.",
    "chmod +x",
    {
      broken: { "/hooks": { prestart: [hook({ path: "/etc/subuid" })] } },
      fixed: { "/hooks": { prestart: [hook()] } },
      at: "/hooks/prestart/0/path",
    },
  ),
  "hook-format": entry(
    "error",
    "A hook that the kernel cannot run",
    "execve(2)",
    "Its interpreter or loader is missing, it is for another machine, or it is not a program.",
    "install what it needs",
    {
      broken: { "/hooks": { prestart: [hook({ path: "/usr/bin/bad" })] } },
      fixed: { "/hooks": { prestart: [hook()] } },
      at: "/hooks/prestart/0/path",
      files: { "/usr/bin/bad": { kind: "file", mode: 0o755, text: "#!/bin/nothing\n" } },
    },
  ),
};
