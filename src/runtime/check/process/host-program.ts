import { DEFAULT_DEVICES } from "../../config/index.ts";
import { cleanPath, type Spec, type SpecMount } from "../../spec/index.ts";
import type { Report } from "../finding.ts";
import { mayExecute, modeText, type User, userOf } from "../host/access.ts";
import { type ContainerFiles, type Found, type HostCheck, type NotFound, placeOf } from "../host/container-files.ts";
import { type KernelFile, kernelFile } from "../host/kernel-files.ts";
import type { BundleView } from "../host/view.ts";
import { isBind } from "../mounts/words.ts";
import { closeTo } from "../namespaces/host-namespaces.ts";
import { explainFormat } from "./host-executable.ts";

const POINTER = "/process/args/0";

function pathOf({ process }: Spec): readonly string[] {
  const entry = process?.env?.findLast((candidate) => candidate.startsWith("PATH="));
  return entry === undefined ? [] : entry.slice("PATH=".length).split(":");
}

/** execvp(3) in the files of the container: the program must be a file that may be executed, and its interpreter must exist. */
export const program: HostCheck = (spec, report, { view, files }) => {
  const name = spec.process?.args?.[0];
  if (files === undefined || !name || !spec.process) return;
  const user = userOf(spec);
  const found = name.includes("/")
    ? files.find(inDirectory(spec, files, spec.process.cwd, name))
    : search(spec, files, name, user, view, report);
  if (found?.status === "opaque" && DEFAULT_DEVICES.some(({ path }) => path === placeOf(found))) {
    report.error("program-kind", POINTER, `"${name}" is a device, not a program`);
    return;
  }
  if (found === undefined) return;
  if (found.status !== "found") {
    const there = found.status === "opaque" ? inNewMount(spec, found, view) : "missing";
    if (there === "missing") reportMissing(name, spec, files, found, report);
    else if (there === "directory") report.error("program-kind", POINTER, `"${name}" is a directory, not a program`);
    else if (there === "file")
      report.error("program-not-executable", POINTER, `"${name}" is a file of the kernel's, which has no execute permission`);
    return;
  }
  if (!isExecutable(found, user, name, report)) return;
  const problem = explainFormat(withNewMounts(spec, files, view), found, view);
  if (problem !== undefined) report.error(problem.code, POINTER, problem.message);
};

/** Filesystems that have no programs when they are made. */
const EMPTY = ["tmpfs", "ramfs", "mqueue", "devpts", "sysfs", "cgroup", "cgroup2"];
/** Hooks that run before the program is looked for, and may put it there. */
const EARLY_HOOKS = ["prestart", "createRuntime", "createContainer"] as const;

function isInEmpty(spec: Spec, { layer }: NotFound): boolean {
  const mount = unfilledMount(spec, layer.index);
  // A mount on the root is a finding of its own.
  return layer.at !== "/" && EMPTY.includes(mount?.type ?? "");
}

/** A filesystem of the configuration's that is as the kernel makes it when the program is looked for. */
function unfilledMount({ mounts, hooks }: Spec, index: number): SpecMount | undefined {
  const mount = mounts?.[index];
  if (mount === undefined || isBind(mount) || mount.options?.includes("tmpcopyup")) return undefined;
  return EARLY_HOOKS.some((kind) => hooks?.[kind]?.length) ? undefined : mount;
}

/** What a mount that is not made yet will have there. */
function inNewMount(spec: Spec, place: NotFound, view: BundleView): KernelFile {
  if (isInEmpty(spec, place)) return "missing";
  return unfilledMount(spec, place.layer.index)?.type === "proc" && place.layer.at !== "/" ? kernelFile(spec, place, view) : "unknown";
}

/** The files with what is known to be missing in such mounts. */
function withNewMounts(spec: Spec, files: ContainerFiles, view: BundleView): Pick<ContainerFiles, "find"> {
  return {
    find(path) {
      const place = files.find(path);
      const isMissing = place.status === "opaque" && inNewMount(spec, place, view) === "missing";
      return isMissing ? { ...place, status: "missing" } : place;
    },
  };
}

function inDirectory(spec: Spec, files: ContainerFiles, cwd: string, name: string): string {
  if (name.startsWith("/")) return name;
  const place = files.find(cwd);
  const isMade = place.status === "missing" || (place.status === "opaque" && isInEmpty(spec, place));
  if (!isMade) return `${cwd}/${name}`;
  // A directory that is made for it has no links on its way: a ".." leads to the name before.
  const [, up = "", rest = ""] = /^((?:\.{0,2}\/+)*)(.*)$/s.exec(name) ?? [];
  return `${cleanPath(`${placeOf(place)}/${up}`)}/${rest}`;
}

/** The program that PATH leads to. undefined: reported already, or unknown before everything is mounted. */
function search(
  spec: Spec,
  files: ContainerFiles,
  name: string,
  user: User | undefined,
  view: BundleView,
  report: Report,
): Found | undefined {
  const directories = pathOf(spec).filter((directory) => directory.startsWith("/"));
  if (directories.length === 0) return undefined;
  let refused: Found | undefined;
  for (const directory of directories) {
    const found = files.find(`${directory}/${name}`);
    if (found.status === "opaque" && isUnknown(inNewMount(spec, found, view))) return undefined;
    if (found.status !== "found") continue;
    const usable = found.facts.kind === "file" && (user === undefined ? (found.facts.mode & 0o111) !== 0 : mayExecute(user, found.facts));
    if (usable) return found;
    refused ??= found;
  }
  if (refused !== undefined) return refused;
  const names = directories.flatMap((directory) => {
    const place = files.find(directory);
    return place.status === "found" ? place.tree.names(place.inTree) : [];
  });
  const dead = directories.map((directory) => `${directory}/${name}`).find((path) => files.entry(path).status === "found");
  const close = dead === undefined ? closeTo(name, names) : [];
  const meant =
    dead !== undefined ? `; ${dead} is a link that leads nowhere` : close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
  report.error("program-missing", POINTER, `"${name}" is in none of ${directories.join(", ")}${meant}`);
  return undefined;
}

const isUnknown = (file: KernelFile): boolean => file === "unknown" || file === "magic";

function reportMissing(
  name: string,
  { mounts }: Spec,
  files: ContainerFiles,
  { status, parent, name: missing, layer }: NotFound,
  report: Report,
): void {
  if (status === "not-a-directory") report.error("program-missing", POINTER, `"${name}": ${parent} is not a directory`);
  else if (status === "loop") report.error("program-missing", POINTER, `"${name}": too many links at ${parent}/${missing}`);
  else if (status === "opaque") {
    const what = mounts?.[layer.index]?.type === "proc" ? "a procfs" : "an empty filesystem";
    report.error("program-missing", POINTER, `"${name}" does not exist: the mount of ${layer.at} covers it with ${what}`);
  } else {
    const place = files.find(parent);
    const close = place.status === "found" ? closeTo(missing, place.tree.names(place.inTree)) : [];
    const base = parent === "/" ? "" : parent;
    const meant = close.length > 0 ? `; did you mean ${close.map((other) => `${base}/${other}`).join(" or ")}?` : "";
    report.error("program-missing", POINTER, `"${name}" does not exist: ${parent === "/" ? "the root" : parent} has no ${missing}${meant}`);
  }
}

function isExecutable({ facts, layer, path }: Found, user: User | undefined, name: string, report: Report): boolean {
  if (facts.kind !== "file") report.error("program-kind", POINTER, `"${name}" is a ${facts.kind}, not a program`);
  else if ((facts.mode & 0o111) === 0)
    report.error("program-not-executable", POINTER, `"${path}" has no execute permission (${modeText(facts)})`);
  else if (layer.options.lastIndexOf("noexec") > layer.options.lastIndexOf("exec"))
    report.error("program-noexec", POINTER, `"${path}" is in the mount of "${layer.at}", which has the option noexec`);
  else if (user !== undefined && user.uid >= 0 && !mayExecute(user, facts) && !(user.uid === 0))
    report.error("program-denied", POINTER, `${user.name} may not execute "${path}" (${modeText(facts)})`);
  else return true;
  return false;
}
