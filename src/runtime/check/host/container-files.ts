/**
 * The files as the container would see them: its root filesystem with every mount on it, links followed inside. Nothing is mounted:
 * paths are walked name by name, and each name is looked up where it really lies.
 */
import { MOUNT_OPTIONS } from "../../config/index.ts";
import { cleanPath, type Spec, type SpecMount } from "../../spec/index.ts";
import type { Report } from "../finding.ts";
import { isBind } from "../mounts/words.ts";
import { PathTree } from "../path-tree.ts";
import type { BundleView, FileFacts, Tree } from "./view.ts";

/** The root filesystem, or a mount. */
interface Layer {
  /** Where it is, links resolved. */
  readonly at: string;
  /** Entry of `mounts`; -1 for the root filesystem. */
  readonly index: number;
  /** Where its files are; undefined: its content is unknown before it is mounted. */
  readonly files: { readonly tree: Tree; readonly path: string } | undefined;
  readonly options: readonly string[];
  /** What remounts of it have said after that. */
  readonly remounts?: readonly string[];
}

export interface Found {
  readonly status: "found";
  /** Without links: as pwd -P would say. */
  readonly path: string;
  readonly facts: FileFacts;
  readonly layer: Layer;
  /** To read it: in the tree of its layer. */
  readonly tree: Tree;
  readonly inTree: string;
}

/** missing: a name is not there. opaque: it is in a filesystem that does not exist yet. */
export interface NotFound {
  readonly status: "missing" | "opaque" | "loop" | "not-a-directory";
  /** The last directory that exists, and the name in it that stopped the walk. */
  readonly parent: string;
  readonly name: string;
  /** What would have followed. */
  readonly rest: readonly string[];
  readonly layer: Layer;
}

export interface ContainerFiles {
  find(path: string): Found | NotFound;
  /** The same, but the last name is not followed: it may be a link. */
  entry(path: string): Found | NotFound;
  /** Where an entry of `mounts` goes: what was there before it, and under which path it is then. */
  destination(index: number): Found | NotFound | undefined;
  readonly root: Tree;
}

/** As the kernel: path_resolution(7). */
const MOST_LINKS = 40;
const DIRECTORY: FileFacts = { kind: "directory", mode: 0o755, uid: 0, gid: 0, major: 0, minor: 0 };

/** undefined: there is no root filesystem to look at. */
export function openContainerFiles(spec: Spec, view: BundleView): ContainerFiles | undefined {
  const path = spec.root?.path;
  if (!path || (view.bundle === undefined && !path.startsWith("/"))) return undefined;
  const root = view.tree(absolute(view.bundle ?? "/", path));
  if (root === undefined) return undefined;
  const layers = newLayers(root);
  const destinations: (Found | NotFound)[] = [];
  (spec.mounts ?? []).forEach((mount, index) => {
    const place = walkBeside(layers, mount.destination);
    destinations[index] = place;
    if (mount.options?.includes("remount")) {
      remountLayer(layers, place, mount.options, spec);
      return;
    }
    const at = placeOf(place);
    if (at.length <= PATH_MAX) addLayer(layers, { at, index, options: mount.options ?? [], files: filesOf(mount, view) });
  });
  const find = (wanted: string) => walk(layers, namesOf(wanted));
  return { find, entry: (wanted) => entryAt(layers, wanted), destination: (index) => destinations[index], root };
}

/** A path of this host without its links. undefined: it is not there. */
export function onHost(view: BundleView, path: string): Found | undefined {
  const root = view.live ? view.tree("/") : undefined;
  const place = root && walk(newLayers(root), namesOf(path));
  return place?.status === "found" ? place : undefined;
}

export function absolute(base: string, path: string): string {
  return path.startsWith("/") ? path : `${base}/${path}`;
}

function filesOf(mount: SpecMount, view: BundleView): Layer["files"] {
  if (!isBind(mount) || !mount.source || !view.live) return undefined;
  const source = absolute(view.bundle ?? "/", mount.source);
  const facts = view.stat(source);
  if (facts === undefined || facts === "unknown") return undefined;
  if (facts.kind === "directory") {
    const tree = view.tree(source);
    return tree && { tree, path: "/" };
  }
  // A single file: its directory is the tree, and it is the only thing in it that can be reached.
  const slash = source.lastIndexOf("/");
  const tree = view.tree(source.slice(0, slash) || "/");
  return tree && { tree, path: source.slice(slash) };
}

/** path_resolution(7): nothing is mounted at a longer path. */
const PATH_MAX = 4096;

/** In the order in which they are mounted, to be found by where they are. */
interface Layers {
  readonly list: Layer[];
  /** Their places in the list, without those that are hidden. */
  readonly last: PathTree<number>;
  /** The directory that was walked to last, and what is there. */
  walked?: { readonly directory: string; readonly place: Found | NotFound /** How what is in it begins. */; readonly below: string };
}

function newLayers(tree: Tree): Layers {
  const last = new PathTree<number>();
  last.replace("/", 0);
  return { list: [{ at: "/", index: -1, files: { tree, path: "/" }, options: [] }], last };
}

/** It hides those at its path and below it. */
function addLayer(layers: Layers, layer: Layer): void {
  const { list, last, walked } = layers;
  last.replace(layer.at, list.push(layer) - 1);
  const isBelow = walked && layer.at.startsWith(walked.below) && layer.at !== walked.below;
  if (!isBelow) delete layers.walked;
}

/** From here on it has what the options say. */
function remountLayer(layers: Layers, place: Found | NotFound, options: readonly string[], { mounts }: Spec): void {
  const { layer } = place;
  if (place.status !== "found" || place.path !== layer.at || layer.index < 0) return;
  // A filesystem that was made read-only is so itself, which a remount of the mount alone leaves as it is.
  const isMountAlone = options.includes("bind") && mounts?.[layer.index]?.type === "ramfs";
  const words = options.filter((word) => MOUNT_OPTIONS.has(word) && !(isMountAlone && word === "rw"));
  // Of each word the last counts, and no list grows with the number of remounts.
  const after = (before: readonly string[]) => [...before.filter((word) => !words.includes(word)), ...words];
  layers.list[placeInList(layers, layer.at)] = { ...layer, options: after(layer.options), remounts: after(layer.remounts ?? []) };
  delete layers.walked;
}

/** The innermost of the mounts on the way. */
function layerOf(layers: Layers, path: string): Layer {
  return layers.list[placeInList(layers, path)]!;
}

function placeInList({ last }: Layers, path: string): number {
  let top = 0;
  last.along(path, (index) => {
    top = index;
  });
  return top;
}

function namesOf(path: string): readonly string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

/** The path of what was looked for, without links as far as it is there. */
export function placeOf(place: Found | NotFound): string {
  if (place.status === "found") return place.path;
  const { parent, name, rest } = place;
  const there = parent === "/" ? `/${name}` : `${parent}/${name}`;
  return cleanPath(rest.length === 0 ? there : `${there}/${rest.join("/")}`);
}

/**
 * The same as a walk from the root. Of many mounts most are in the directory of the one before, so the way to it is not walked again, unless
 * something was mounted on it.
 */
function walkBeside(layers: Layers, wanted: string): Found | NotFound {
  const slash = wanted.lastIndexOf("/");
  const [directory, name] = [wanted.slice(0, slash), wanted.slice(slash + 1)];
  if (slash < 0 || name === "" || name === "." || name === "..") return walk(layers, namesOf(wanted));
  if (layers.walked?.directory !== directory) {
    const place = walk(layers, namesOf(directory));
    // A way over links, or to something that only a mount below it makes known, may be another one next time.
    const isKnown = place.status === "found" || (place.status === "missing" && place.name !== "");
    const isLasting = isKnown && placeOf(place) === (directory || "/");
    if (!isLasting) return walk(layers, namesOf(wanted));
    layers.walked = { directory, place, below: `${directory}/` };
  }
  const { place } = layers.walked!;
  if (place.status === "found") return walk(layers, [name], place);
  const { status, parent, name: missing, rest, layer } = place;
  return { status, parent, name: missing, rest: [...rest, name], layer };
}

function entryAt(layers: Layers, wanted: string): Found | NotFound {
  const names = namesOf(wanted);
  const name = names.at(-1);
  if (name === undefined || name === "..") return walk(layers, names);
  const directory = walk(layers, names.slice(0, -1));
  if (directory.status !== "found" || directory.facts.kind !== "directory")
    return directory.status === "found" ? walk(layers, [name], directory) : { ...directory, rest: [...directory.rest, name] };
  const { path, layer } = directory;
  const file = lookAt(layers, path === "/" ? `/${name}` : `${path}/${name}`);
  return typeof file === "string" ? { status: file, parent: path, name, rest: [], layer } : file;
}

/** @param from where the names begin; undefined: at the root */
function walk(layers: Layers, names: readonly string[], from?: Found): Found | NotFound {
  let rest = names;
  let here = from?.path ?? "/";
  let links = 0;
  let found = from ?? lookAt(layers, "/");
  while (rest.length > 0) {
    const [name = "", ...others] = rest;
    if (name === "..") {
      here = here.slice(0, here.lastIndexOf("/")) || "/";
      found = lookAt(layers, here);
      rest = others;
      continue;
    }
    const stop = (status: NotFound["status"], layer: Layer): NotFound => ({ status, parent: here, name, rest: others, layer });
    if (typeof found !== "string" && found.facts.kind !== "directory") return stop("not-a-directory", found.layer);
    const next = here === "/" ? `/${name}` : `${here}/${name}`;
    const file = lookAt(layers, next);
    if (typeof file === "string") {
      // A mount point further down exists even if the content around it is unknown.
      const known = file === "opaque" && layers.last.hasBelow(next);
      if (!known) return stop(file, layerOf(layers, next));
      found = { status: "found", path: next, facts: DIRECTORY, layer: layerOf(layers, next), tree: NOTHING, inTree: next };
      here = next;
      rest = others;
      continue;
    }
    if (file.facts.kind === "symlink") {
      links += 1;
      const text = file.tree.link(file.inTree);
      if (text === undefined || links > MOST_LINKS) return stop("loop", file.layer);
      rest = [...namesOf(text), ...others];
      if (text.startsWith("/")) {
        here = "/";
        found = lookAt(layers, "/");
      }
      continue;
    }
    found = file;
    here = next;
    rest = others;
  }
  if (typeof found === "string") return { status: found, parent: here, name: "", rest: [], layer: layerOf(layers, here) };
  return found;
}

/** One path without links before its last name. */
function lookAt(layers: Layers, path: string): Found | "missing" | "opaque" {
  const layer = layerOf(layers, path);
  const inLayer = layer.at === "/" ? path : path.slice(layer.at.length);
  const { files } = layer;
  if (files === undefined) {
    if (inLayer !== "" && inLayer !== "/") return "opaque";
    return { status: "found", path, facts: DIRECTORY, layer, tree: NOTHING, inTree: "/" };
  }
  const inTree = files.path === "/" ? inLayer || "/" : files.path + inLayer;
  const facts = files.tree.look(inTree);
  return facts === undefined ? "missing" : { status: "found", path, facts, layer, tree: files.tree, inTree };
}

const NOTHING: Tree = {
  look: () => undefined,
  link: () => undefined,
  names: () => [],
  read: () => new ArrayBuffer(0),
  isWritable: () => true,
};

/** What a check of the host has before it. */
interface HostInput {
  readonly view: BundleView;
  /** The files as the container would see them; undefined without a root filesystem to look at. */
  readonly files?: ContainerFiles;
}

/** Like Check, with the host beside the configuration. */
export type HostCheck = (spec: Spec, report: Report, input: HostInput) => void;
