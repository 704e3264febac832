import { MS } from "../linux.ts";
import type { Scope } from "./scope.ts";

/** Cut the mount namespace off and open the root file system. */
export function addRoot(scope: Scope): void {
  const { builder, config, host } = scope;
  // open_tree needs rights over the mount namespace: outer has them unless rootless, then init has them here.
  if (config.maskedPaths.length > 0 && host.rootless) builder.add("init", "rootfs", "mask.open", {});
  if (scope.isNew("mount")) {
    const flags = config.rootfsPropagation === 0 ? MS.SLAVE | MS.REC : config.rootfsPropagation;
    builder.add("init", "rootfs", "root.propagation", { flags }, config.rootfsPropagation === 0 ? "" : "/linux/rootfsPropagation");
  }
  builder.add("init", "rootfs", "root.open", { path: config.rootfs }, "/root/path");
}

/** Make the root file system the root, and give it its final shape. */
export function addPivot(scope: Scope): void {
  const { builder, config, invocation } = scope;
  if (!scope.isNew("mount")) builder.add("init", "pivot", "root.enter", {});
  else if (invocation.noPivot) builder.add("init", "pivot", "root.move", {});
  else builder.add("init", "pivot", "root.pivot", {});
  if (config.rootfsPropagation !== 0 && scope.isNew("mount")) {
    builder.add("init", "pivot", "root.finalPropagation", { flags: config.rootfsPropagation }, "/linux/rootfsPropagation");
  }
}
