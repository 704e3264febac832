/** Where the cgroup of a container is: below a path, or as a scope in a slice of systemd. */

const DEFAULT_PARENT = "/runt-executor";
/** Of the scopes: systemd knows units of many makers. */
const PREFIX = "runt";

/** "tasks-web.slice" (systemd.slice(5)): no path has such a form, for one is absolute. */
export function isSlice(parent: string): boolean {
  return /^[\w:.\\-]+\.slice$/.test(parent);
}

/** linux.cgroupsPath of the container with this id; a plus sign is the one character of ids that units do not have. */
export function cgroupsPathOf(id: string, parent = DEFAULT_PARENT): string {
  return isSlice(parent) ? `${parent}:${PREFIX}:${id.replaceAll("+", "\\x2b")}` : `${parent}/${id}`;
}
