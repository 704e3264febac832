import { MESSAGES } from "../ops.ts";
import type { Scope } from "./scope.ts";

/** init reports that nothing is left that could fail; rlimits come last, for they would bind init's own work. */
export function addReady({ builder, config, invocation }: Scope): void {
  builder.add("init", "commit", "sync.send", { message: MESSAGES.ready });
  if (config.process?.terminal && invocation.consoleSocket === undefined) {
    builder.add("runtime", "commit", "sync.wait", { message: MESSAGES.console }, "/process/terminal");
  }
  builder.add("runtime", "commit", "sync.wait", { message: MESSAGES.ready });
  for (const { type, soft, hard, from } of config.process?.rlimits ?? []) {
    builder.add("runtime", "commit", "process.rlimit", { type, soft, hard }, from);
  }
}

/** The container exists once its state is on disk; only then may init outlive the runtime. */
export function addCommit({ builder, host, invocation }: Scope): void {
  builder.add("runtime", "commit", "state.commit", { directory: host.stateDirectory });
  if (invocation.pidFile !== undefined) builder.add("runtime", "commit", "pidfile.write", { path: invocation.pidFile });
  builder.add("runtime", "commit", "sync.send", { message: MESSAGES.commit });
  builder.add("init", "commit", "sync.wait", { message: MESSAGES.commit });
  builder.add("init", "commit", "process.deathSignal", { signal: 0 });
}
