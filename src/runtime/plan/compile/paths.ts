import type { Scope } from "./scope.ts";

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
