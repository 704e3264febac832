import { RLIMIT } from "../../../shared/linux/index.ts";
import type { Scope } from "./scope.ts";

/** They come as late as the rights for them allow, because they bind init's own work too. */
export function addRlimits({ builder, config }: Scope, actor: "init" | "runtime"): void {
  for (const { type, soft, hard, from } of config.process?.rlimits ?? []) {
    const resource = RLIMIT[type];
    if (resource === undefined) throw new TypeError(`rlimit type ${type} was not checked`);
    builder.add(actor, actor === "init" ? "process" : "commit", "process.rlimit", { resource, soft, hard }, from);
  }
}
