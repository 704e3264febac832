import { absolute } from "../host/container-files.ts";
import type { HostCheck } from "../host/host-check.ts";
import { nearest } from "../namespaces/host-names.ts";
import { isBind } from "./words.ts";

/** So many missing sources get a close name, for which a directory is read: a configuration with more has other troubles. */
const MOST_SEARCHES = 50;

/** config, mounts: the source of a bind mount must exist. */
export const mountSources: HostCheck = ({ mounts }, report, { view }) => {
  const tree = view.live ? view.tree("/") : undefined;
  if (tree === undefined) return;
  let searches = 0;
  mounts?.forEach((mount, index) => {
    if (!isBind(mount) || !mount.source || mount.options?.includes("remount")) return;
    if (!mount.source.startsWith("/") && view.bundle === undefined) return;
    const source = absolute(view.bundle ?? "/", mount.source);
    const ofLink = mount.options?.some((word) => word === "copy-symlink" || /^src-nofollow(?:=|$)/.test(word));
    if ((ofLink ? tree.look(source) : view.stat(source)) !== undefined) return;
    const near = ++searches > MOST_SEARCHES ? undefined : nearest(tree, source);
    report.error(
      "mount-source-missing",
      `/mounts/${index}/source`,
      `"${mount.source}" does not exist${near === undefined ? "" : `; nearest: ${near}`}`,
    );
  });
};
