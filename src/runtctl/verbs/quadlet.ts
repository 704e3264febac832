/** Unit files of Podman's Quadlet: a directory of them, or some with those that they name. They are translated in the client, as Compose files are. */
import { renderFinding } from "../../engine/index.ts";
import { type DropIns, isQuadletName, MOST_UNITS, parseQuadlet, projectOf, type QuadletFile, type UnitFile } from "../../pod/index.ts";
import { fileError, UsageError } from "../errors.ts";
import { exists, hostname, isDirectory, isFile, namesIn, printError, realPath, variable } from "../platform/index.ts";
import type { FileToApply, Manner } from "./file.ts";
import { joined } from "./joined.ts";
import { bounded, directoryOf } from "./project.ts";

/** Whether it is a directory, or a file with the name of a unit. */
export function isQuadlet(path: string): boolean {
  return path !== "-" && (isQuadletName(baseOf(path)) || isDirectory(path));
}

interface Asked extends Manner {
  readonly project?: string | undefined;
  readonly group: string | undefined;
}

interface Found {
  /** Absolute. */
  readonly directory: string;
  /** As the user has named it. */
  readonly source: string;
  readonly files: readonly UnitFile[];
  readonly dropIns: readonly DropIns[];
  /** Names of other files in a directory that is applied. */
  readonly others: readonly string[];
}

/** undefined: the files have errors, which were printed. @throws UsageError */
export function quadletToApply(
  paths: readonly string[],
  { project, group, isQuiet = false, mayLack = false }: Asked,
): FileToApply | undefined {
  const found = readAll(paths);
  const { directory, source, files, dropIns, others } = found;
  const read = new Set<string>();
  const parsed = parseQuadlet(files, dropIns, {
    directory,
    images: variable("RUNT_IMAGES") || undefined,
    mayLack: mayLack || isQuiet,
    specifiers: { h: variable("HOME"), u: variable("USER"), H: hostname(), l: hostname().split(".")[0] },
    readFile: (path) => {
      read.add(path);
      return bounded(path);
    },
  });
  if (!isQuiet)
    tell(
      found,
      parsed,
      others.filter((name) => !read.has(`${directory}/${name}`)),
    );
  if (parsed.findings.length > 0) {
    if (isQuiet) for (const finding of parsed.findings) printError(renderFinding(finding, source));
    return undefined;
  }
  const name = project ?? group ?? projectOf(directory);
  if (name === "") throw new UsageError(`${directory} gives the project no name: use -p NAME`);
  const common = { source, group: name, from: realPath(directory), isProject: true };
  const [first, ...further] = parsed.kube;
  if (first !== undefined) return joined({ ...common, ...first }, further);
  if (parsed.inputs.length === 0) throw new UsageError(`${source}: no file there starts a container`);
  return {
    ...common,
    text: parsed.inputs.map((one) => JSON.stringify(one)).join("\n---\n"),
    origin: parsed.origin,
    externals: parsed.externals,
  };
}

function tell({ source, files, dropIns }: Found, { warnings, findings }: QuadletFile, unread: readonly string[]): void {
  for (const { message, ...finding } of warnings) printError(renderFinding({ ...finding, message: `warning: ${message}` }, source));
  const texts = [...files, ...dropIns.flatMap((one) => one.files)].map(({ text }) => text);
  for (const name of unread)
    if (!texts.some((text) => text.includes(name)))
      printError(`${source}/${name}: warning: no file of Quadlet names it: it is not applied`);
  for (const finding of findings) printError(renderFinding(finding, source));
}

function baseOf(path: string): string {
  return path.replace(/\/+$/, "").replace(/^.*\//s, "");
}

/** @throws UsageError */
function readAll(paths: readonly string[]): Found {
  const [first] = paths;
  const isWhole = isDirectory(first!);
  if (isWhole && paths.length > 1) throw new UsageError(`${first} is a directory, and is applied alone`);
  const wrong = paths.find((path) => !isWhole && !isQuadletName(baseOf(path)));
  if (wrong !== undefined) throw new UsageError(`${wrong} is no file of Quadlet, and the others are`);
  const source = isWhole ? first!.replace(/(?<=.)\/+$/, "") : first!;
  const shown = isWhole ? source : source.replace(/[^/]*$/, "").replace(/(?<=.)\/$/, "") || ".";
  const directories = new Set(paths.map((path) => (isWhole ? directoryOf(`${path}/x`) : directoryOf(path))));
  if (directories.size > 1) throw new UsageError("the files are in several directories: apply each directory for itself");
  const [directory = "/"] = directories;
  const all = names(directory);
  const within = (name: string) => (shown === "." ? name : `${shown}/${name}`);
  const units = all.filter(isQuadletName);
  if (isWhole && units.length === 0) throw new UsageError(`${source}: it has no file of Quadlet such as web.container`);
  if (units.length > MOST_UNITS) throw new UsageError(`${source}: it has more than ${MOST_UNITS} files of Quadlet`);
  const wanted = isWhole ? new Set(units) : new Set(paths.map(baseOf));
  const files: UnitFile[] = [];
  // What a file names may name further ones.
  for (const name of wanted) {
    const file = within(name);
    const text = textOf(`${directory}/${name}`, file);
    files.push({ name, file, text });
    if (!isWhole) for (const other of namedIn(text)) if (units.includes(other)) wanted.add(other);
  }
  const dropIns = all.filter(isDropIn).map((name): DropIns => ({ directory: name, files: filesIn(`${directory}/${name}`, within(name)) }));
  const others = isWhole ? all.filter((name) => !isQuadletName(name) && !isDropIn(name) && !name.startsWith(".")) : [];
  return { directory, source, files, dropIns, others };
}

function isDropIn(name: string): boolean {
  return name.endsWith(".d") && isQuadletName(`x.${name.slice(0, -".d".length)}`);
}

function filesIn(directory: string, shown: string): UnitFile[] {
  return names(directory)
    .filter((name) => name.endsWith(".conf"))
    .map((name) => ({ name, file: `${shown}/${name}`, text: textOf(`${directory}/${name}`, `${shown}/${name}`) }));
}

/** Names of unit files in a text, but for its comments. */
function namedIn(text: string): string[] {
  const lines = text.split("\n").filter((line) => !/^\s*[#;]/.test(line));
  return lines.flatMap((line) => line.match(/[A-Za-z0-9_.@-]+\.(?:container|pod|volume|network|image|build)(?![A-Za-z0-9_.-])/g) ?? []);
}

function names(directory: string): string[] {
  try {
    return namesIn(directory);
  } catch (error) {
    throw new UsageError(fileError(directory, error).message);
  }
}

/** A pipe could hold up whoever applies a directory. @throws UsageError */
function textOf(path: string, shown: string): string {
  try {
    if (exists(path) && !isFile(path)) throw new Error("it is no regular file");
    return bounded(path).toString();
  } catch (error) {
    throw new UsageError(fileError(shown, error).message);
  }
}
