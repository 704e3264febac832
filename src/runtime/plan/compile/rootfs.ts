import { MS } from "../../../shared/linux/index.ts";
import type { Scope } from "./scope.ts";

/** Cut the mount namespace off and open the root file system. */
export function addRoot(scope: Scope): void {
  const { builder, config, host } = scope;
  // open_tree needs rights over the mount namespace: the intermediate has them unless rootless, then init has them here.
  if (config.maskedPaths.length > 0 && host.rootless) builder.add("init", "rootfs", "mask.open", {});
  if (scope.isNew("mount")) {
    const flags = startPropagation(config.rootfsPropagation);
    builder.add("init", "rootfs", "root.propagation", { flags }, config.rootfsPropagation === 0 ? "" : "/linux/rootfsPropagation");
  }
  // Only a mount can be read-only: where the runtime has not bound the root, init does.
  const inPlace = scope.bindsRoot || (!scope.isNew("mount") && !config.rootReadonly);
  builder.add("init", "rootfs", "root.open", { path: config.rootfs, inPlace }, "/root/path");
}

/**
 * What the whole mount namespace is while the root is put together; root.finalPropagation gives the root the type that is asked for.
 * shared: volumes have to stay peers of the host's mounts. unbindable: nothing could be bound any more.
 */
function startPropagation(asked: number): number {
  if ((asked & MS.SHARED) !== 0) return asked;
  return ((asked & (MS.PRIVATE | MS.UNBINDABLE)) !== 0 ? MS.PRIVATE : MS.SLAVE) | MS.REC;
}

/** Make the root file system the root, and give it its final shape. */
export function addPivot(scope: Scope): void {
  const { builder, invocation } = scope;
  if (!scope.isNew("mount")) builder.add("init", "pivot", "root.enter", {});
  else if (invocation.noPivot) builder.add("init", "pivot", "root.move", {});
  else builder.add("init", "pivot", "root.pivot", {});
}

/** Last of all that is done to mounts: of an unbindable root nothing more could be bound. */
export function addFinalPropagation({ builder, config, isNew }: Scope): void {
  if (config.rootfsPropagation === 0 || !isNew("mount")) return;
  builder.add("init", "pivot", "root.finalPropagation", { flags: config.rootfsPropagation }, "/linux/rootfsPropagation");
}

/** What is done to paths of the finished root: cwd made, sysctls, read-only root and paths, masks. */
export function addPaths(scope: Scope): void {
  const { builder, config } = scope;
  const cwd = config.process?.cwd;
  if (cwd !== undefined && cwd !== "/") builder.add("init", "pivot", "directory.create", { path: cwd, mode: 0o755 }, "/process/cwd");
  for (const { key, path, value } of config.sysctl) {
    builder.add("init", "pivot", "sysctl.write", { key: path, value }, `/linux/sysctl/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
  builder.begin("protectedPaths");
  addProtectedPaths(scope);
  builder.begin("finish");
  if (config.rootReadonly) builder.add("init", "pivot", "root.readonly", {}, "/root/readonly");
}

function addProtectedPaths({ builder, config }: Scope): void {
  const { readonlyPaths, maskedPaths } = config;
  for (let index = 0; index < readonlyPaths.length; index++)
    builder.add("init", "pivot", "path.readonly", { path: readonlyPaths[index]! }, `/linux/readonlyPaths/${index}`);
  for (let index = 0; index < maskedPaths.length; index++)
    builder.add("init", "pivot", "path.mask", { path: maskedPaths[index]! }, `/linux/maskedPaths/${index}`);
}
