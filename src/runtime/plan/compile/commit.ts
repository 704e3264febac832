import { MESSAGES } from "../../../shared/protocol/index.ts";
import { addPidfd } from "./pidfd.ts";
import { addRlimits } from "./rlimits.ts";
import type { Scope } from "./scope.ts";
import { addEarlyFilter, addFilterHandOver, addFilterPreparation } from "./seccomp.ts";

/**
 * run hears of whatever fails up to execve: the record can be committed while init joins its cgroups and becomes the program's user. Not before the
 * pivot, for `exec` may come as soon as there is a record. Whoever reads a pid of a file or a socket shall find a container that starts.
 */
export function addEarlyReady(scope: Scope): void {
  const { builder, config, invocation } = scope;
  const { mode, pidFile, pidfdSocket } = invocation;
  if (mode !== "run" || !scope.joinsLast || pidFile !== undefined || pidfdSocket !== undefined) return;
  if (config.process?.terminal || config.seccomp?.listener) return;
  scope.isReady = true;
  builder.add("init", "commit", "sync.send", { message: MESSAGES.ready });
}

/** init reports that nothing is left that could fail. */
export function addReady(scope: Scope): void {
  const { builder, config, invocation, inUserNamespace } = scope;
  // From here on the end of the socket says that the runtime is gone: the runtime may end as soon as it has `ready` and has sent
  // `commit`, and a death signal still set then would kill a committed container.
  addFilterPreparation(scope);
  addFilterHandOver(scope);
  builder.add("init", "commit", "process.deathSignal", { signal: 0 });
  addEarlyFilter(scope);
  if (!scope.isReady) builder.add("init", "commit", "sync.send", { message: MESSAGES.ready });
  if (config.process?.terminal && invocation.consoleSocket === undefined) {
    builder.add("runtime", "commit", "sync.wait", { message: MESSAGES.console }, "/process/terminal");
  }
  builder.add("runtime", "commit", "sync.wait", { message: MESSAGES.ready });
  if (inUserNamespace) addRlimits(scope, "runtime");
}

/** The container exists once its state is on disk; only then may init outlive the runtime. */
export function addCommit({ builder, host, invocation }: Scope): void {
  builder.add("runtime", "commit", "state.commit", { directory: host.stateDirectory });
  if (invocation.pidFile !== undefined) builder.add("runtime", "commit", "pidfile.write", { path: invocation.pidFile });
  addPidfd(builder, invocation, "standard");
  builder.add("runtime", "commit", "sync.send", { message: MESSAGES.commit });
  builder.add("init", "commit", "sync.wait", { message: MESSAGES.commit });
}
