/**
 * Mounts of a running container -> Plan. Sources are taken with the view and the rights of the host; only then the container's
 * namespaces are entered, and paths in it are resolved in its root. Pure.
 */

import { CLONE_NEW, MS, SIGNALS } from "../../../shared/linux/index.ts";
import { CREATE, MESSAGES, NO_SLOT, PLAN_VERSION } from "../../../shared/protocol/index.ts";
import type { BindMount } from "../../config/index.ts";
import type { CompileHost } from "../input.ts";
import type { Plan } from "../plan.ts";
import { attributes } from "./attributes.ts";
import { createBuilder } from "./builder.ts";
import { BARE_CONFIG, createScope, type Scope } from "./scope.ts";
import { openSources } from "./sources.ts";

export interface MountsInput {
  readonly id: string;
  readonly add: readonly BindMount[];
  /** Absolute paths in the container, in the order in which they are unmounted. */
  readonly remove: readonly { readonly target: string; readonly from: string }[];
  /** The container's init; its start time (clock ticks) guards against a reused pid. */
  readonly target: { readonly pid: number; readonly startTime: bigint };
  readonly hasUserNamespace: boolean;
  readonly host: Pick<CompileHost, "stateDirectory" | "rootless" | "cgroupVersion">;
}

export function compileMounts(input: MountsInput): Plan {
  const builder = createBuilder();
  const scope = scopeOf(input, builder);
  builder.add("runtime", "spawn", "helper.spawn", { cgroup: "" });
  builder.add("intermediate", "namespaces", "proc.open", {});
  openSources(scope);
  for (const { from } of input.add) {
    const slot = builder.slotOf(from)!;
    builder.add("intermediate", "namespaces", "mount.propagation", { slot, flags: MS.SLAVE | MS.REC }, from);
  }
  addEntry(scope, input);
  for (const mount of input.add) attach(scope, mount);
  for (const { target, from } of input.remove) builder.add("init", "mounts", "mount.detach", { target }, from);
  builder.add("init", "commit", "sync.send", { message: MESSAGES.ready });
  builder.add("runtime", "commit", "sync.wait", { message: MESSAGES.ready });
  return { version: PLAN_VERSION, id: input.id, slots: builder.slots, ops: builder.ops };
}

function scopeOf({ id, add, hasUserNamespace, host }: MountsInput, builder: ReturnType<typeof createBuilder>): Scope {
  const types = hasUserNamespace ? (["mount", "user"] as const) : (["mount"] as const);
  const namespaces = types.map((type) => ({ type, path: "", from: "" }));
  const invocation = { id, mode: "run", noPivot: false, noNewKeyring: true, preserveFds: 0, listenFds: 0 } as const;
  return createScope({ config: { ...BARE_CONFIG, mounts: add, namespaces }, invocation, host: { ...host, cgroupSources: [] } }, builder);
}

/** No further than needed: what is entered cannot see the PID namespace's processes, nor they this one. */
function addEntry({ builder, inUserNamespace }: Scope, { target, hasUserNamespace }: MountsInput): void {
  const flags = CLONE_NEW.mount | (hasUserNamespace ? CLONE_NEW.user : 0);
  builder.add("intermediate", "namespaces", "namespace.enter", { pid: target.pid, startTime: target.startTime, flags });
  builder.add("intermediate", "namespaces", "process.clone", { flags: 0, cgroup: NO_SLOT });
  builder.add("runtime", "namespaces", "sync.wait", { message: MESSAGES.pid });
  builder.add("init", "namespaces", "process.deathSignal", { signal: SIGNALS.KILL });
  if (inUserNamespace) builder.add("init", "namespaces", "process.becomeRoot", { keepGroups: false });
  builder.add("init", "rootfs", "root.current", { path: "/" });
}

function attach({ builder }: Scope, mount: BindMount): void {
  const slot = builder.slotOf(mount.from)!;
  const create = mount.onLink ? CREATE.notFollowed : CREATE.likeSource;
  builder.add(
    "init",
    "mounts",
    "mount.bind",
    { slot, target: mount.target, create, attrDrop: mount.attrDrop, ...attributes(mount) },
    mount.from,
  );
}
