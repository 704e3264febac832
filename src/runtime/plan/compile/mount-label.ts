import type { Scope } from "./scope.ts";

/** Filesystems of the kernel have labels of their own, and mqueue takes none (mount(8), context=). */
const UNLABELLED: ReadonlySet<string> = new Set(["proc", "sysfs", "mqueue", "cgroup", "cgroup2"]);

/** The mount data of a new filesystem with linux.mountLabel, unless they name a context themselves. */
export function contextData({ config }: Scope, fstype: string, data: readonly string[]): readonly string[] {
  const { mountLabel } = config;
  if (mountLabel === undefined || UNLABELLED.has(fstype) || data.some((option) => option.startsWith("context="))) return data;
  return [...data, `context=${mountLabel}`];
}
