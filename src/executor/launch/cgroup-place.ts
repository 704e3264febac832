/** Where the cgroup of a container is: below a path, or as a scope in a slice of systemd. */

const DEFAULT_PARENT = "/runt-executor";
/** Of the scopes: systemd knows units of many makers. */
const PREFIX = "runt";
const SLICE = ".slice";

/** "tasks-web.slice" (systemd.slice(5)): no path has such a form, for one is absolute. */
export function isSlice(parent: string): boolean {
  return /^[\w:.\\-]+\.slice$/.test(parent);
}

/** linux.cgroupsPath of the container with this id; a plus sign is the one character of ids that units do not have. */
export function cgroupsPathOf(id: string, parent: string = DEFAULT_PARENT): string {
  return isSlice(parent) ? `${parent}:${PREFIX}:${id.replaceAll("+", "\\x2b")}` : `${parent}/${id}`;
}

/** Path of that cgroup below the mount point of a hierarchy. */
export function cgroupPathOf(id: string, parent: string): string {
  if (!isSlice(parent)) return cgroupsPathOf(id, parent);
  return `/${slicePath(parent)}/${PREFIX}-${id.replaceAll("+", "\\x2b")}.scope`;
}

/** The path of a slice: "a-b.slice" is in "a.slice/a-b.slice" (systemd.slice(5)). */
export function slicePath(name: string): string {
  const parts = name.slice(0, -SLICE.length).split("-");
  return parts.map((_, at) => `${parts.slice(0, at + 1).join("-")}${SLICE}`).join("/");
}
