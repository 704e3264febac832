/**
 * Whether a restored container has its mounts of the host's directories read-only where config.json wants it. criu gives every mount the
 * flags that the image says, and by that takes away those of the source: what was writable at the dump would be so again.
 */
import { MOUNT_ATTR, type MountLine, parseMountinfo } from "../../../shared/linux/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { Plan } from "../../plan/index.ts";
import { cleanPath } from "../../spec/index.ts";
import type { Surroundings } from "./external-sources.ts";

/** Mount points, by the configuration or by a source that is read-only by a flag of its mount. To be asked before criu runs. */
export function readonlyMountpoints({ ops }: Plan, { table, places }: Surroundings): ReadonlySet<string> {
  const sources = new Map<number, string>();
  const wanted = new Set<string>();
  for (const { op, args } of ops) {
    if (op === "mount.open") sources.set(args.slot, args.source);
    if (op === "root.readonly") wanted.add("/");
    if (op !== "mount.bind") continue;
    const source = sources.get(args.slot);
    if (source === undefined) continue;
    const target = cleanPath(args.target);
    const place = places.get(target) ?? target;
    const isSet = ((args.attrSet | args.recursiveSet) & MOUNT_ATTR.RDONLY) !== 0n;
    const isCleared = ((args.attrClear | args.recursiveClear) & MOUNT_ATTR.RDONLY) !== 0n;
    if (isSet || (!isCleared && isReadonlyMount(source, table))) wanted.add(place);
    // A later mount lies on it.
    else wanted.delete(place);
  }
  return wanted;
}

/** Whether the mount that a path is in has the flag; its filesystem has the say anyway. */
function isReadonlyMount(path: string, table: readonly MountLine[]): boolean {
  if (!host.stat(path)) return false;
  const fd = host.open(path, host.O.PATH);
  const id = /^mnt_id:\s*(\d+)/m.exec(host.readFile(`/proc/self/fdinfo/${fd}`, undefined, true))?.[1];
  host.close(fd);
  return table.find((mount) => mount.id === id)?.options.includes("ro") === true;
}

/** The processes stand still. Older versions of criu (3.17) leave the root writable that was read-only. */
export function protectRoot(pid: number, wanted: ReadonlySet<string>): void {
  if (wanted.has("/") && !isReadonly(mountsOf(pid), "/")) host.makeRootReadonly(`/proc/${pid}/ns/mnt`);
}

/** The processes stand still. What the container had unmounted is not missed. @throws RuntError "criu" */
export function requireReadonly(pid: number, wanted: ReadonlySet<string>): void {
  const restored = mountsOf(pid);
  for (const place of wanted) {
    if (isReadonly(restored, place)) continue;
    throw new RuntError("criu", `the image has the mount point ${place} writable, and the bundle or its source has it read-only`, {
      pointer: "/mounts",
    });
  }
}

function mountsOf(pid: number): readonly MountLine[] {
  return parseMountinfo(host.readFile(`/proc/${pid}/mountinfo`, undefined, true));
}

/** Also where nothing is mounted. */
function isReadonly(mounts: readonly MountLine[], place: string): boolean {
  const mount = mounts.findLast(({ point }) => point === place);
  return mount === undefined || mount.options.includes("ro");
}
