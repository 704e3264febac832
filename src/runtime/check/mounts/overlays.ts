/** The kernel's Documentation/filesystems/overlayfs: something to lie over, and a work directory beside what is written. */
import { cleanPath, type SpecMount } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import type { HostCheck } from "../host/container-files.ts";
import { optionsIn } from "./filesystems.ts";
import { isBind } from "./words.ts";

/** A directory of an overlay, and the place of its word. */
interface Layer {
  readonly word: number;
  readonly option: string;
  readonly path: string;
}

const isOverlay = (mount: SpecMount): boolean => mount.type === "overlay" && !isBind(mount) && !mount.options?.includes("remount");

/** As the kernel splits it: a backslash keeps a colon, and two colons begin the layers that have data only. */
function layersOf({ options }: SpecMount): readonly Layer[] {
  return (options ?? []).flatMap((text, word) => optionsIn("overlay", text).flatMap((one) => layersIn(one, word)));
}

function layersIn(text: string, word: number): readonly Layer[] {
  const [, option = "", value = ""] = /^(lowerdir\+?|datadir\+|upperdir|workdir)=(.+)$/s.exec(text) ?? [];
  if (option === "") return [];
  if (option !== "lowerdir") return [{ word, option, path: value }];
  return value
    .split(/(?<!\\):/)
    .filter((path) => path !== "")
    .map((path) => ({ word, option, path: path.replaceAll("\\:", ":") }));
}

export const overlayLayers: Check = ({ mounts }, report) => {
  mounts?.forEach((mount, index) => {
    if (!isOverlay(mount)) return;
    const layers = layersOf(mount);
    const has = (name: string): boolean => layers.some(({ option }) => option === name);
    const lower = layers.filter(({ option }) => option === "lowerdir" || option === "lowerdir+").length;
    const missing = lower === 0 ? "lowerdir" : has("upperdir") && !has("workdir") ? "workdir" : undefined;
    const words = `mount of "${mount.destination}": `;
    if (missing !== undefined) report.error("overlay-layers", `/mounts/${index}`, `${words}an overlay without ${missing}=`);
    else if (lower === 1 && !has("upperdir") && !has("datadir+"))
      report.error("overlay-layers", `/mounts/${index}`, `${words}an overlay of one lowerdir and no upperdir= has nothing to lay together`);
  });
};

/** Directories of this host; upperdir and workdir are apart from each other. */
export const overlayDirectories: HostCheck = ({ mounts }, report, { view }) => {
  if (!view.live) return;
  mounts?.forEach((mount, index) => {
    if (!isOverlay(mount)) return;
    const layers = layersOf(mount).filter(({ path }) => path.startsWith("/"));
    for (const { word, option, path } of layers) {
      const facts = view.stat(path);
      if (facts === "unknown" || (facts !== undefined && facts.kind === "directory")) continue;
      const what = facts === undefined ? "does not exist" : `is a ${facts.kind}, not a directory`;
      report.error("overlay-directory", `/mounts/${index}/options/${word}`, `mount of "${mount.destination}": ${option} "${path}" ${what}`);
    }
    const upper = layers.find(({ option }) => option === "upperdir");
    const work = layers.find(({ option }) => option === "workdir");
    if (upper === undefined || work === undefined || !areNested(upper.path, work.path)) return;
    report.error(
      "overlay-directory",
      `/mounts/${index}/options/${work.word}`,
      `mount of "${mount.destination}": workdir "${work.path}" and upperdir "${upper.path}" lie in each other`,
    );
  });
};

function areNested(one: string, other: string): boolean {
  const [a, b] = [cleanPath(one), cleanPath(other)];
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}
