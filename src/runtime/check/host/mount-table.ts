/** The caller's mounts, as proc_pid_mountinfo(5) lists them. */
import { decodeMountPath } from "../../spec/index.ts";
import type { BundleView } from "./view.ts";

export interface HostMount {
  readonly id: string;
  readonly parent: string;
  /** Which directory of its filesystem it shows. */
  readonly root: string;
  readonly point: string;
  /** Of the mount itself: "ro", "nosuid", "relatime". */
  readonly options: readonly string[];
  readonly type: string;
  /** The whole filesystem is read-only, whatever the mount says. */
  readonly isReadOnly: boolean;
}

export interface MountTable {
  readonly list: readonly HostMount[];
  /** The mount that a path without links is on. */
  at(path: string): HostMount | undefined;
  childrenOf(mount: HostMount): readonly HostMount[];
}

/** Of each view the table is read once. */
const tables = new WeakMap<BundleView, MountTable>();

/** undefined: they are not known. */
export function mountTable(view: BundleView): MountTable | undefined {
  const known = tables.get(view);
  if (known !== undefined || !view.live) return known;
  const text = view.text("/proc/self/mountinfo");
  if (text === undefined) return undefined;
  const table = tableOf(text.split("\n").flatMap(parseLine));
  tables.set(view, table);
  return table;
}

/** ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE OPTIONS */
function parseLine(line: string): readonly HostMount[] {
  const [before = "", behind = ""] = line.split(" - ", 2);
  const [id = "", parent = "", , root = "", point, options = ""] = before.split(" ", 6);
  if (point === undefined) return [];
  const [type = "", , ofFilesystem = ""] = behind.split(" ");
  const isReadOnly = ofFilesystem.split(",").includes("ro");
  return [{ id, parent, root: decodeMountPath(root), point: decodeMountPath(point), options: options.split(","), type, isReadOnly }];
}

/** Whether a path is at a place or below it. */
export function isAt(path: string, place: string): boolean {
  return place === "/" || path === place || path.startsWith(`${place}/`);
}

function tableOf(list: readonly HostMount[]): MountTable {
  const children = new Map<string, HostMount[]>();
  const ids = new Set(list.map(({ id }) => id));
  for (const mount of list) {
    const beside = children.get(mount.parent);
    if (beside === undefined) children.set(mount.parent, [mount]);
    else beside.push(mount);
  }
  const childrenOf = ({ id }: HostMount): readonly HostMount[] => children.get(id) ?? [];
  const top = list.find(({ point, parent }) => point === "/" && !ids.has(parent));
  /** From each mount to the one in it that the path comes to first. Of two at one place the second is in the first. */
  const descend = (mount: HostMount, path: string): HostMount => {
    const onTheWay = childrenOf(mount).filter(({ point }) => isAt(path, point));
    if (onTheWay.length === 0) return mount;
    return descend(
      onTheWay.reduce((first, other) => (other.point.length < first.point.length ? other : first)),
      path,
    );
  };
  return { list, childrenOf, at: (path) => top && descend(top, path) };
}
