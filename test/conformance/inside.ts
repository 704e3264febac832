/** Describes everything that a program in a container sees, to compare two containers. */
import type { Change, Context } from "./context.ts";

const NAMESPACES = "for type in cgroup ipc mnt net pid uts; do [ -e /proc/self/ns/$type ] && echo $type; done";

/** The probe's lines, command line and id map, without what differs between any two containers (descriptors, device and inode numbers). */
export async function seenInside(c: Context, change?: Change): Promise<string> {
  const text = await c.output(`/probe; ${NAMESPACES}; cat /proc/self/cmdline /proc/self/uid_map`, change);
  return text
    .split("\n")
    .filter((line) => !/^(fd|cgroup) /.test(line))
    .join("\n")
    .replaceAll(/\d+:\d+|\[\d+\]/g, "N");
}
