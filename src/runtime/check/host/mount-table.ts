/** The caller's mounts, as proc_pid_mountinfo(5) lists them. */
import { type MountLine, parseMountinfo } from "../../../shared/linux/index.ts";
import type { BundleView } from "./view.ts";

export interface MountTable {
  readonly list: readonly MountLine[];
  /** The mount that a path without links is on. */
  at(path: string): MountLine | undefined;
  childrenOf(mount: MountLine): readonly MountLine[];
}

/** Of each view the table is read once. */
const tables = new WeakMap<BundleView, MountTable>();

/** undefined: they are not known. */
export function mountTable(view: BundleView): MountTable | undefined {
  const known = tables.get(view);
  if (known !== undefined || !view.live) return known;
  const text = view.text("/proc/self/mountinfo");
  if (text === undefined) return undefined;
  const table = tableOf(parseMountinfo(text));
  tables.set(view, table);
  return table;
}

/** Whether a path is at a place or below it. */
export function isAt(path: string, place: string): boolean {
  return place === "/" || path === place || path.startsWith(`${place}/`);
}

function tableOf(list: readonly MountLine[]): MountTable {
  const children = new Map<string, MountLine[]>();
  const ids = new Set(list.map(({ id }) => id));
  for (const mount of list) {
    const beside = children.get(mount.parent);
    if (beside === undefined) children.set(mount.parent, [mount]);
    else beside.push(mount);
  }
  const childrenOf = ({ id }: MountLine): readonly MountLine[] => children.get(id) ?? [];
  const top = list.find(({ point, parent }) => point === "/" && !ids.has(parent));
  /** From each mount to the one in it that the path comes to first. Of two at one place the second is in the first. */
  const descend = (mount: MountLine, path: string): MountLine => {
    const onTheWay = childrenOf(mount).filter(({ point }) => isAt(path, point));
    if (onTheWay.length === 0) return mount;
    return descend(
      onTheWay.reduce((first, other) => (other.point.length < first.point.length ? other : first)),
      path,
    );
  };
  return { list, childrenOf, at: (path) => top && descend(top, path) };
}
