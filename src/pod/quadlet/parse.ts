/** Parses the unit files of Podman's Quadlet. Source: podman-systemd.unit(5). */
import { type Finding, type ParsedFile, parsedFile, type TaskInput } from "../../engine/spec/index.ts";
import { KINDS, type Kind } from "./fields.ts";
import { type KubeText, kubeTexts } from "./kube.ts";
import { projectOf } from "./project.ts";
import type { Specifiers } from "./specifiers.ts";
import type { ProjectOptions } from "./together.ts";
import { type Told, Unit, type UnitFile } from "./unit.ts";

export interface QuadletOptions extends ProjectOptions {
  /** Specifiers of this host and user, by their letters: h, u, H and the like. */
  readonly specifiers: Specifiers;
}

/** Files ".conf" of a directory such as "web.container.d". */
export interface DropIns {
  readonly directory: string;
  readonly files: readonly UnitFile[];
}

export interface QuadletFile extends ParsedFile {
  /** The tasks in the format of a task file. Empty if there are findings. */
  readonly inputs: readonly TaskInput[];
  readonly warnings: readonly Finding[];
  /** Files with Kubernetes objects, instead of tasks. */
  readonly kube: readonly KubeText[];
  /** Networks of the whole host that its containers are in, and which others make. */
  readonly externals: readonly string[];
  /** Converts a finding about one of the inputs, each a document of its own, to one about its file. */
  origin(finding: Finding): Finding;
}

export const MOST_UNITS = 1000;
/** In characters, of all files together. */
const MOST_TEXT = 4 * 1024 * 1024;
const NAME = /^([A-Za-z0-9_.-]+)(?:@([A-Za-z0-9_.-]*))?\.([a-z]+)$/;

/** Whether a file with this name is one of Quadlet. Files ".build" are, too, and are refused. */
export function isQuadletName(name: string): boolean {
  const suffix = name.slice(name.lastIndexOf(".") + 1);
  return name.lastIndexOf(".") > 0 && (Object.hasOwn(KINDS, suffix) || suffix === "build");
}

/** Takes time proportional to the files. Uses only them, and what `readFile` gives. */
export function parseQuadlet(files: readonly UnitFile[], dropIns: readonly DropIns[], options: QuadletOptions): QuadletFile {
  const told: Told = { findings: [], warnings: [] };
  const refuse = (message: string, file: string) => told.findings.push(findingAt(message, file));
  const all = [...files, ...dropIns.flatMap((one) => one.files)];
  const size = all.reduce((sum, { text }) => sum + text.length, 0);
  if (files.length > MOST_UNITS || size > MOST_TEXT) {
    refuse(`there are more than ${MOST_UNITS} files, or they have more than ${MOST_TEXT} characters`, files[0]!.file);
    return failed(told);
  }
  const units = new Map<string, Unit>();
  for (const file of [...files].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const unit = unitOf(file, dropIns, options.specifiers, told, refuse);
    if (unit === undefined) continue;
    const name = `${unit.base}.${unit.kind}`;
    if (units.has(name)) refuse(`${name} is there twice`, file.file);
    units.set(name, unit);
  }
  const kubes = [...units.values()].filter(({ kind }) => kind === "kube");
  if (kubes.length > 0 && kubes.length < units.size)
    kubes[0]!.refuse("a file .kube is applied alone: beside it are others, whose tasks are not Kubernetes objects");
  const kube = kubes.flatMap((unit) => kubeTexts(unit, options.directory, options.readFile));
  if (told.findings.length > 0) return failed(told);
  if (kubes.length > 0) return { ...nothing(told), kube };
  const { specs, ...project } = projectOf(units, options, told);
  if (told.findings.length > 0) return failed(told);
  return { ...nothing(told), ...project, tasks: parsedFile(specs, []).tasks, findings: parsedFile(specs, []).findings };
}

/** undefined: it was refused, or is a template that nothing starts. */
function unitOf(
  file: UnitFile,
  dropIns: readonly DropIns[],
  specifiers: Specifiers,
  told: Told,
  refuse: (message: string, file: string) => void,
): Unit | undefined {
  const [, prefix, instance, suffix = ""] = NAME.exec(file.name) ?? [];
  if (suffix === "build") refuse("files .build are not supported: build the image, and name it", file.file);
  else if (prefix === undefined || !Object.hasOwn(KINDS, suffix))
    refuse("has no name like web.container with A-Z a-z 0-9 _ . - @", file.file);
  if (prefix === undefined || !Object.hasOwn(KINDS, suffix)) return undefined;
  const added = dropInsOf(prefix, instance, suffix as Kind, dropIns);
  if (instance !== "") return new Unit(file, added, specifiers, told);
  const silent: Told = { findings: [], warnings: [] };
  const started = new Unit(file, added, specifiers, silent, `${prefix}@`).text("Install", "DefaultInstance");
  if (started === undefined) {
    told.warnings.push(findingAt(`is a template, and nothing starts it: make a link such as ${prefix}@NAME.${suffix} to it`, file.file));
    return undefined;
  }
  if (!/^[A-Za-z0-9_.-]+$/.test(started.text)) refuse("DefaultInstance has A-Z a-z 0-9 _ . -", file.file);
  return new Unit(file, added, specifiers, told, `${prefix}@${started.text}`);
}

/** Of files with one name the most special one counts. All are in the order of their names. */
function dropInsOf(prefix: string, instance: string | undefined, kind: Kind, dropIns: readonly DropIns[]): UnitFile[] {
  const base = instance === undefined ? prefix : `${prefix}@${instance}`;
  const parts = prefix.split("-");
  const shorter = parts.slice(0, -1).map((_, at) => `${parts.slice(0, at + 1).join("-")}-.${kind}.d`);
  const order = [`${kind}.d`, ...shorter, ...(instance === undefined ? [] : [`${prefix}@.${kind}.d`]), `${base}.${kind}.d`];
  const found = new Map<string, UnitFile>();
  for (const directory of new Set(order))
    for (const one of dropIns.filter((each) => each.directory === directory)) for (const file of one.files) found.set(file.name, file);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function findingAt(message: string, file: string): Finding {
  return { code: "shape", message, pointer: "", document: 0, line: 1, column: 1, file };
}

function nothing({ warnings }: Told): Omit<QuadletFile, "warnings"> & { readonly warnings: readonly Finding[] } {
  return { tasks: [], findings: [], inputs: [], warnings, kube: [], externals: [], origin: (finding) => finding };
}

function failed(told: Told): QuadletFile {
  const inOrder = [...told.findings].sort((a, b) => (a.file! < b.file! ? -1 : a.file! > b.file! ? 1 : a.line - b.line));
  return { ...nothing(told), findings: inOrder };
}
