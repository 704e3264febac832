import { MS } from "../../../shared/linux/index.ts";
import { MOUNT_OPTIONS } from "../../config/index.ts";
import type { SpecMount } from "../../spec/index.ts";
import type { HostCheck } from "../host/host-check.ts";

/** mount(2): a read-only path is a bind mount of itself, and what lies in an unbindable mount cannot be bound. */
export const readonlyPathsBindable: HostCheck = ({ linux, mounts }, report, { view, files }) => {
  if (files === undefined) return;
  linux?.readonlyPaths?.forEach((path, index) => {
    const place = files.find(path);
    const mount = mounts?.[place.layer.index];
    if (mount === undefined || !isUnbindable(mount)) return;
    // A path that does not exist is left out. What a procfs has, the host knows.
    const isThere = place.status === "found" || (place.status === "opaque" && mount.type === "proc" && view.live && !!view.stat(path));
    if (!isThere) return;
    report.error(
      "hidden-path-unbindable",
      `/linux/readonlyPaths/${index}`,
      `linux.readonlyPaths: "${path}" lies in the mount of ${mount.destination}, which is unbindable`,
    );
  });
};

function isUnbindable({ options }: SpecMount): boolean {
  const words = options?.map((word) => MOUNT_OPTIONS.get(word)?.propagation ?? 0).filter((propagation) => propagation !== 0) ?? [];
  return ((words.at(-1) ?? 0) & MS.UNBINDABLE) !== 0;
}
