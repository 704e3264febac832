import { MESSAGES } from "../../../shared/protocol/index.ts";
import type { Invocation } from "../input.ts";
import type { Builder } from "./builder.ts";
import { addRlimits } from "./process.ts";
import type { Scope } from "./scope.ts";
import { addEarlyFilter, addFilterHandOver, addFilterPreparation } from "./seccomp.ts";

/** init reports that nothing is left that could fail. */
export function addReady(scope: Scope): void {
  const { builder, config, invocation, inUserNamespace } = scope;
  // From here on the end of the socket says that the runtime is gone: the runtime may end as soon as it has `ready` and has sent
  // `commit`, and a death signal still set then would kill a committed container.
  addFilterPreparation(scope);
  addFilterHandOver(scope);
  builder.add("init", "commit", "process.deathSignal", { signal: 0 });
  addEarlyFilter(scope);
  builder.begin("ready");
  builder.add("init", "commit", "sync.send", { message: MESSAGES.ready });
  builder.begin("commit");
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

/** `kind` is the text that receivers of runc's pidfds know: a container's first process, or a further one. */
export function addPidfd(builder: Builder, { pidfdSocket }: Pick<Invocation, "pidfdSocket">, kind: "standard" | "setns"): void {
  if (pidfdSocket !== undefined) builder.add("runtime", "commit", "pidfd.send", { path: pidfdSocket, text: kind });
}
