/** Hooks. */
import type { OpDefinition } from "../fields.ts";

export const HOOKS = {
  "hook.run": {
    id: 100,
    actors: ["runtime", "init"],
    doc: "Run one hook: stdin is statePrefix, the pid of init as this actor sees it, stateSuffix. inheritEnv: its environment is the actor's, not env; home: plus the HOME that process.home found. Its working directory is cwd (runtime) or the directory of a slot (init), if given. timeout in seconds, 0 = none; after it SIGKILL. A status other than 0 is an error that carries status, stdout and stderr (4 KiB each); once nobody listens on the rendezvous any more, it is written to slot `report`. A hook that does not read stdin is fine. filtered (init): the hook, not init, gets the filter of seccomp.receive before its execve(2), with filterFlags and raise as seccomp.load has them.",
    fields: {
      kind: "str",
      index: "u32",
      path: "str",
      args: "strs",
      env: "strs",
      inheritEnv: "bool",
      home: "bool",
      timeout: "u32",
      cwd: "str",
      directory: "slot",
      report: "slot",
      filtered: "bool",
      filterFlags: "u32",
      raise: "bool",
      statePrefix: "str",
      stateSuffix: "str",
    },
  },
} as const satisfies Record<string, OpDefinition>;
