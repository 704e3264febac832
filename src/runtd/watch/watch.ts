/**
 * Watches directories, and keeps the tasks of this host as their files say. A change is applied when two looks in a row have seen the same files. What
 * users change otherwise is told, and not undone.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { type Caller, type Engine, EngineError, renderFinding, type TaskDifference } from "../../engine/index.ts";
import { Servers } from "../../node/index.ts";
import { cut } from "../../shared/text/index.ts";
import { log } from "../log.ts";
import type { Files } from "../parsing/files.ts";
import { hostOf } from "../read-file.ts";
import { identityOf, trustedDirectory } from "../trusted-file.ts";
import { FileSystems, pointIn } from "./file-systems.ts";
import { type Head, type WorkTree, workTreeOf } from "./git.ts";
import type { WatchedText } from "./read.ts";
import { type Found, filesBelow } from "./scan.ts";

export interface WatchOptions {
  readonly engine: Engine;
  readonly files: Files;
  /** Absolute paths. */
  readonly directories: readonly string[];
  /** Milliseconds between two looks. */
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 2_000;
/** Looks between two attempts to apply a file that was refused for a reason that may pass, and between two comparisons of a file with its tasks. */
const LOOKS_AGAIN = 15;
/** A lock of git that stays longer than this, in milliseconds, is left over. */
const LONGEST_LOCK_MS = 60_000;

interface Known {
  /** Of the file and of those that it names, as the last reading found them. */
  readonly identity: string;
  readonly text: WatchedText | undefined;
  /** Why the file is not applied; "": it is. */
  readonly problem: string;
  /** Milliseconds of performance.now() at which it is looked at again; undefined: when it changes. */
  readonly againMs: number | undefined;
  /** How its tasks differ from it; "": they do not. */
  readonly drift: string;
}

export class Watch {
  readonly #options: WatchOptions;
  readonly #everyMs: number;
  readonly #againMs: number;
  readonly #known = new Map<string, Known>();
  /** By directory: why it is not looked at. */
  readonly #failed = new Map<string, string>();
  /** By directory: what the last look has seen, and when git was first seen to change it. */
  readonly #seen = new Map<string, string>();
  readonly #locked = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#everyMs = options.everyMs ?? EVERY_MS;
    this.#againMs = LOOKS_AGAIN * this.#everyMs;
  }

  start(): void {
    if (this.#options.directories.length > 0) this.#later();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Numbers for metrics. */
  get counts(): { readonly applied: number; readonly refused: number; readonly drifted: number } {
    const all = [...this.#known.values()];
    const refused = all.filter(({ problem }) => problem !== "").length;
    return { applied: all.length - refused, refused: refused + this.#failed.size, drifted: all.filter(({ drift }) => drift !== "").length };
  }

  #later(): void {
    this.#timer = setTimeout(() => {
      this.#look()
        .catch((error: unknown) => log("error", "watch-failed", { message: (error as Error).message }))
        .finally(() => {
          if (!this.#isStopped) this.#later();
        });
    }, this.#everyMs).unref();
  }

  async #look(): Promise<void> {
    const servers = new Servers();
    for (const directory of this.#options.directories) {
      let problem = "";
      try {
        await this.#lookAt(directory, servers);
      } catch (error) {
        problem = (error as Error).message;
      }
      await this.#tellDirectory(directory, problem);
    }
    this.#setConditions();
  }

  async #lookAt(directory: string, servers: Servers): Promise<void> {
    // Files have their names below the path that was given: a link that is switched to another directory changes their content.
    const found = await filesBelow(directory, servers);
    const git = await problemOf(servers.answered(join(directory, ".git")));
    const tree = git === "" ? workTreeOf(trustedDirectory(directory)) : undefined;
    const seen = JSON.stringify([[...found.files], [...found.refused]]);
    const isSettled = this.#seen.get(directory) === seen && !this.#isLocked(directory, tree);
    this.#seen.set(directory, seen);
    if (isSettled) await this.#settle(directory, found, { tree, servers });
  }

  /** A checkout of git that goes on changes file after file. */
  #isLocked(directory: string, tree: WorkTree | undefined): boolean {
    if (!tree?.isLocked) this.#locked.delete(directory);
    else if (!this.#locked.has(directory)) this.#locked.set(directory, performance.now());
    const since = this.#locked.get(directory);
    return since !== undefined && performance.now() - since < LONGEST_LOCK_MS;
  }

  async #settle(directory: string, found: Found, { tree, servers }: Pick<Place, "tree" | "servers">): Promise<void> {
    const { watched } = this.#options.engine;
    const isBelow = (path: string) => path.startsWith(directory === "/" ? "/" : `${directory}/`);
    const isRefused = (path: string) => [...found.refused.keys()].some((one) => path === one || path.startsWith(`${one}/`));
    const missing = Object.keys(watched.all).filter((path) => isBelow(path) && !found.files.has(path) && !isRefused(path));
    const [gone, problems]: [string[], string[]] = [[], []];
    for (const path of missing) {
      const problem = await problemOf(servers.entryAnswered(path));
      if (problem === "") gone.push(path);
      else problems.push(`${problem}: the tasks of ${path} stay`);
    }
    const fileSystems = new FileSystems();
    for (const [path, why] of found.refused) await this.#tellProblem(path, why, undefined);
    for (const path of found.files.keys()) {
      if (this.#isStopped) return;
      await this.#takeFile(path, { directory, gone, tree, fileSystems, servers });
    }
    for (const path of this.#known.keys())
      if (isBelow(path) && !found.files.has(path) && !found.refused.has(path)) this.#known.delete(path);
    // A file system that is not mounted yet, or a checkout that has failed. Whoever deletes the tasks says that the file was removed.
    const isMoved = (path: string) => ![undefined, fileSystems.of(path)].includes(watched.all[path]?.fileSystem);
    const held = gone.filter((path) => (found.files.size === 0 || isMoved(path)) && watched.hasTasks(path));
    // Meanwhile a file system may have been mounted.
    for (const path of gone.filter((one) => !held.includes(one) && isGone(one))) {
      const removed = watched.remove(path, callerOf(path, tree?.head()));
      const problem = await problemOf(removed.then((tasks) => log("info", "watch-removed", { path, tasks })));
      if (problem !== "") problems.push(`${problem}: the tasks of ${path} stay`);
    }
    if (held.length > 0) {
      const points = new Set(held.flatMap((path) => pointIn(watched.all[path]?.fileSystem) ?? []));
      const [why, until] =
        found.files.size === 0
          ? [`${directory} has no file any more`, "it has one"]
          : [`the file system that was mounted at ${[...points].join(", ")} is not there`, "it is"];
      problems.push(`${why}: the tasks of ${held.join(", ")} stay until ${until}, or until they are deleted`);
    }
    if (problems.length > 0) throw new Error(problems.join("; "));
  }

  async #takeFile(path: string, place: Place): Promise<void> {
    const known = this.#known.get(path);
    for (const one of Object.keys(known?.text?.read ?? {})) {
      const problem = await problemOf(place.servers.entryAnswered(one));
      if (problem !== "") return this.#tellProblem(path, problem, known?.text, this.#againMs);
    }
    const isDue = known?.againMs !== undefined && performance.now() >= known.againMs;
    if (known !== undefined && known.identity === identityNow(path, known.text)) {
      if (isDue) await this.#again(path, known, place);
      return;
    }
    await this.#readFile(path, place);
  }

  /** A reason of the host may have passed; and the tasks may have been changed by others. */
  async #again(path: string, known: Known, place: Place): Promise<void> {
    if (known.text === undefined || known.problem !== "") await this.#readFile(path, place);
    else await this.#compare(path, known);
  }

  async #readFile(path: string, place: Place): Promise<void> {
    const { watched } = this.#options.engine;
    let text: WatchedText | undefined;
    try {
      const before = watched.all[path];
      const fileSystem = place.fileSystems.of(path);
      if (before !== undefined && before.fileSystem !== fileSystem) await watched.move(path, fileSystem);
      text = await this.#options.files.readWatched(path, hostOf(this.#options.engine));
      const problems = [...text.file.findings.map((one) => renderFinding(one, path)), ...text.problems];
      // It stays wrong until it, or what it names, is changed. What is missing may be made without that.
      if (problems.length > 0) return await this.#tellProblem(path, problems.join("; "), text, this.#againMs);
      await this.#applyFile(path, text, place);
    } catch (error) {
      await this.#tellProblem(path, messageOf(error, path), text, this.#againMs);
    }
  }

  async #applyFile(path: string, text: WatchedText, { gone, tree, fileSystems }: Place): Promise<void> {
    const { watched } = this.#options.engine;
    const known: Known = { identity: identityRead(path, text), text, problem: "", againMs: performance.now() + this.#againMs, drift: "" };
    // The last daemon has applied this version. What users have changed since then stays as it is.
    if (watched.all[path]?.digest === text.digest) {
      this.#known.set(path, known);
      return this.#compare(path, known);
    }
    const { file, group, isProject, networks, digest } = text;
    const head = tree?.head();
    const fileSystem = fileSystems.of(path);
    const source = { fileSystem, path, group, isProject, networks, digest, gone: gone.filter((one) => one !== path), commit: head?.commit };
    const tasks = await watched.apply(file, source, callerOf(path, head));
    log("info", "watch-applied", { path, group, tasks, ...(head?.commit === undefined ? {} : { commit: head.commit }) });
    for (const warning of text.warnings) log("info", "watch-warning", { message: renderFinding(warning, path) });
    if (head !== undefined && head.problem !== "") log("error", "watch-commit-unknown", { path, message: head.problem });
    this.#known.set(path, known);
  }

  /** Tells how the tasks differ from the file, once for each difference. */
  async #compare(path: string, known: Known): Promise<void> {
    const { engine } = this.#options;
    const drift = driftOf(engine, path, known.text!);
    this.#known.set(path, { ...known, drift, againMs: performance.now() + this.#againMs });
    if (drift === known.drift) return;
    const { group } = known.text!;
    await this.#tell({ state: drift === "" ? "matches" : "drifted", path, group, message: drift || "the tasks are as the file says" });
    log("info", drift === "" ? "watch-matches" : "watch-drifted", { path, message: drift });
  }

  async #tellProblem(path: string, problem: string, text: WatchedText | undefined, againMs?: number): Promise<void> {
    const before = this.#known.get(path)?.problem;
    const again = againMs === undefined ? undefined : performance.now() + againMs;
    this.#known.set(path, { identity: identityRead(path, text), text, problem, againMs: again, drift: "" });
    if (before === problem) return;
    log("error", "watch-refused", { path, message: problem });
    await this.#tell({ state: "refused", path, group: text?.group ?? null, message: cut(problem) });
  }

  async #tellDirectory(directory: string, problem: string): Promise<void> {
    if ((this.#failed.get(directory) ?? "") === problem) return;
    if (problem === "") this.#failed.delete(directory);
    else this.#failed.set(directory, problem);
    if (problem === "") return;
    log("error", "watch-refused", { path: directory, message: problem });
    await this.#tell({ state: "refused", path: directory, group: null, message: cut(problem) });
  }

  /** Adds an event to the journal. If the store cannot be written, log and condition tell it: the files behind this one have their turn. */
  async #tell(event: Omit<Parameters<Engine["watched"]["tell"]>[0], "type">): Promise<void> {
    await this.#options.engine.watched.tell({ type: "watch", ...event }).catch(() => {});
  }

  #setConditions(): void {
    const { watched } = this.#options.engine;
    const problems = [...this.#known].flatMap(([path, { problem }]) => (problem === "" ? [] : [`${path}: ${problem}`]));
    watched.condition("WatchFailed", cut([...this.#failed.values(), ...problems].join("; ")));
    watched.condition(
      "Drifted",
      cut([...this.#known].flatMap(([path, { drift }]) => (drift === "" ? [] : [`${path}: ${drift}`])).join("; ")),
    );
  }
}

function callerOf(path: string, head: Head | undefined): Caller {
  const via = `watch ${path}${head?.commit === undefined ? "" : `@${head.commit}`}`;
  return { uid: process.geteuid?.() ?? 0, pid: process.pid, via };
}

interface Place {
  readonly directory: string;
  /** Files that were applied and do not exist any more. */
  readonly gone: readonly string[];
  readonly tree: WorkTree | undefined;
  readonly fileSystems: FileSystems;
  readonly servers: Servers;
}

/** Why something does not answer; "": it does. */
function problemOf(answer: Promise<void>): Promise<string> {
  return answer.then(
    () => "",
    (error: Error) => error.message,
  );
}

/** Of a file and of those that it names, as they are now: the same as identityRead if none was changed since. */
function identityNow(path: string, text: WatchedText | undefined): string {
  return JSON.stringify((text === undefined ? [path] : Object.keys(text.read)).map((one) => [one, identityAt(one)]));
}

function identityRead(path: string, text: WatchedText | undefined): string {
  return text === undefined ? identityNow(path, text) : JSON.stringify(Object.entries(text.read));
}

/** @throws the errors of lstat(2), such as that of a file system that does not answer */
function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
    return true;
  }
}

function identityAt(path: string): string | null {
  try {
    return identityOf(lstatSync(path));
  } catch {
    return null;
  }
}

/** "": the tasks are as the file says. */
function driftOf(engine: Engine, path: string, { file, group, isProject }: WatchedText): string {
  const names = new Set(file.tasks.map(({ name }) => name));
  try {
    const differences = engine.plan(file, group, { from: engine.watched.originOf(path), isProject });
    return differences
      .filter(({ name, change }) => names.has(name) && DRIFT[change] !== undefined)
      .map(
        ({ name, change, fields }) =>
          `${name} ${DRIFT[change]}${fields.length === 0 ? "" : ` (${fields.map(({ pointer }) => pointer).join(", ")})`}`,
      )
      .join("; ");
  } catch (error) {
    return (error as Error).message;
  }
}

const DRIFT: Partial<Record<TaskDifference["change"], string>> = {
  created: "was deleted",
  started: "was stopped",
  updated: "has other limits",
  replaced: "runs another version",
  rolling: "runs another version",
};

function messageOf(error: unknown, path: string): string {
  if (error instanceof EngineError && error.code === "invalid-spec") {
    const { findings = [] } = error.details as {
      readonly findings?: readonly { readonly line: number; readonly column: number; readonly message: string }[];
    };
    return findings.map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`).join("; ") || error.message;
  }
  return (error as Error).message;
}
