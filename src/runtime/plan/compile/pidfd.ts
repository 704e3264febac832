import type { Invocation } from "../input.ts";
import type { Builder } from "./builder.ts";

/** `kind` is the text that receivers of runc's pidfds know: a container's first process, or a further one. */
export function addPidfd(builder: Builder, { pidfdSocket }: Pick<Invocation, "pidfdSocket">, kind: "standard" | "setns"): void {
  if (pidfdSocket !== undefined) builder.add("runtime", "commit", "pidfd.send", { path: pidfdSocket, text: kind });
}
