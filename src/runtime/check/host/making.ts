/** Whether something that is missing can be made where it is missing. */
import { cleanPath, type Spec, type SpecMount } from "../../spec/index.ts";
import { isBind } from "../mounts/words.ts";
import { mayMakeIn, userNamespaceRoot } from "./access.ts";
import { absolute, type ContainerFiles, type NotFound } from "./container-files.ts";
import { hostFilesystem, isReadOnly, OF_THE_KERNEL } from "./kernel-files.ts";
import type { BundleView } from "./view.ts";

export interface Refusal {
  /** rights: of the root of a user namespace. */
  readonly kind: "rights" | "read-only" | "kernel";
  /** "PARENT is in the read-only mount of PLACE" */
  readonly reason: string;
}

/** A new filesystem of the configuration's with nothing in it. */
export function isEmptyAtFirst(mount: SpecMount): boolean {
  return (mount.type === "tmpfs" || mount.type === "ramfs") && !isBind(mount) && !mount.options?.includes("tmpcopyup");
}

/** undefined: it can, or nothing is known against it. */
export function whyNotMade(place: NotFound, spec: Spec, files: ContainerFiles, view: BundleView): Refusal | undefined {
  const { layer, parent } = place;
  const mount = spec.mounts?.[layer.index];
  const below = parent.slice(layer.at === "/" ? 0 : layer.at.length);
  const inTree = layer.files?.path === "/" ? below || "/" : `${layer.files?.path}${below}`;
  const facts = layer.files?.tree.look(inTree);
  const maker = userNamespaceRoot(spec);
  if (facts !== undefined && maker !== undefined && !mayMakeIn(maker, facts))
    return { kind: "rights", reason: `the container's root, uid ${maker.uid} on the host, may not make it in ${parent}` };
  const parentText = `${parent} is in the read-only mount of ${layer.at}`;
  // A tmpfs is made read-only at the end, unless it is by a remount.
  const words = mount?.type === "tmpfs" && !isBind(mount) ? (layer.remounts ?? []) : layer.options;
  if (isReadOnly(words)) return { kind: "read-only", reason: parentText };
  if (layer.index === -1)
    return files.root.isWritable("/") ? undefined : { kind: "read-only", reason: "the root filesystem lies on a read-only one" };
  if (layer.files === undefined || facts === undefined || !mount?.source) return undefined;
  const type = hostFilesystem(view, cleanPath(`${absolute(view.bundle ?? "/", mount.source)}${below}`));
  if (type !== undefined && OF_THE_KERNEL.includes(type))
    return { kind: "kernel", reason: `${parent} is in a filesystem of type ${type}, in which only the kernel makes files` };
  // For others than root, the permission bits decide as well.
  const isRoot = view.facts.caller?.uid === 0;
  return isRoot && !layer.files.tree.isWritable(inTree)
    ? { kind: "read-only", reason: `${parent} lies on a read-only filesystem` }
    : undefined;
}
