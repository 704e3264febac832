/** What criu has to bind for the mounts of a container to be restored: names of the image, and the host's paths by config.json. */
import type { MountLine } from "../../../shared/linux/index.ts";
import type { ContainerConfig } from "../../config/index.ts";
import type { ExternalMount } from "../../criu/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { Op, Plan } from "../../plan/index.ts";
import { cleanPath } from "../../spec/index.ts";

const NULL = "/dev/null";

export interface Surroundings {
  /** The host's mount table. */
  readonly table: readonly MountLine[];
  /** Mount points that a link of the root filesystem leads elsewhere, and where: the image has them by their real place. */
  readonly places: ReadonlyMap<string, string>;
}

/**
 * Names (mount points, and "/dev/null" for masked files) and sources: the plan's bind mounts, with what is mounted below the source of a
 * recursive one. @throws RuntError "not-supported"
 */
export function externalSources({ ops }: Plan, { devices }: ContainerConfig, { table, places }: Surroundings): ExternalMount[] {
  const sources = new Map<number, { readonly source: string; readonly below: readonly MountLine[] }>();
  const found: ExternalMount[] = [{ key: NULL, value: NULL }];
  const add = (target: string, below: string, value: string) => {
    const real = places.get(target);
    found.push({ key: target + below, value });
    if (real !== undefined) found.push({ key: real + below, value });
  };
  for (const op of ops) {
    const opened = openedSource(op);
    if (opened) {
      const source = realSource(opened.source);
      sources.set(opened.slot, { source, below: opened.recursive ? table.filter(({ point }) => isInside(point, source)) : [] });
    }
    // Whether the image calls it by its place or by what it is depends on who has dumped it.
    if (op.op === "path.mask") found.push({ key: cleanPath(op.args.path), value: NULL });
    const bound = op.op === "mount.bind" ? sources.get(op.args.slot) : undefined;
    if (op.op !== "mount.bind" || bound === undefined) continue;
    const target = cleanPath(op.args.target);
    add(target, "", bound.source);
    for (const { point } of bound.below) add(target, point.slice(bound.source === "/" ? 0 : bound.source.length), point);
  }
  // Where nodes cannot be made they are bound (user namespaces).
  return [...found, ...devices.map(({ path }) => ({ key: path, value: path }))];
}

interface Opened {
  readonly slot: number;
  readonly source: string;
  readonly recursive: boolean;
}

function openedSource({ op, args }: Op): Opened | undefined {
  if (op === "mount.open") return args;
  // Made by the time criu opens it.
  if (op === "cgroup.openTree") return { slot: args.slot, source: args.path, recursive: false };
  if (op !== "mount.openLink") return undefined;
  const isLink = ((host.lstat(args.source)?.mode ?? 0) & host.S.IFMT) === host.S.IFLNK;
  if (!isLink) return args;
  // A copy is a link in the root filesystem, and no mount.
  if (args.copy) return undefined;
  throw new RuntError("not-supported", `criu cannot bind the symbolic link ${args.source} itself`, { pointer: "/mounts" });
}

/** Without links and dots, because criu compares it with mount points. A path that does not exist yet (a hook may make it) stays as it is. */
function realSource(path: string): string {
  return host.stat(path) ? host.realpath(path) : path;
}

function isInside(path: string, directory: string): boolean {
  return path !== directory && path.startsWith(directory === "/" ? "/" : `${directory}/`);
}
