/** What others have below the state roots: links with the names of containers, to a directory of theirs, and directories that no runtime has made. Nobody may empty either. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Root } from "./roots.ts";

const CONTENT = "of somebody else\n";
const FILES = ["state.json", "file", "below/file"];

export class Treasures {
  readonly directory: string;
  /** A directory that is no state root, with what could be taken for containers. */
  readonly root: string;
  private readonly foreign: string[] = [];

  constructor(directory: string) {
    this.directory = join(directory, "behind-links");
    this.root = join(directory, "root");
    fill(this.directory);
    for (const name of ["h0", "notes"]) {
      fill(join(this.root, name));
      this.foreign.push(join(this.root, name));
    }
    mkdirSync(join(this.root, "h1"));
    writeFileSync(join(this.root, "file"), CONTENT);
  }

  /** Where no container has that name now. */
  link({ path }: Root, id: string): void {
    if (!isThere(join(path, id))) symlinkSync(this.directory, join(path, id));
  }

  /** No id of the walk: what is there stays. */
  place({ path }: Root, name: string): void {
    const place = join(path, name);
    if (this.foreign.includes(place)) return;
    fill(place);
    this.foreign.push(place);
  }

  /** undefined: all is as it was. */
  harm(): string | undefined {
    if (!["h1", "file"].every((name) => isThere(join(this.root, name)))) return `something in ${this.root} has changed`;
    const changed = [this.directory, ...this.foreign].find((place) => !isWhole(place));
    return changed === undefined ? undefined : `${changed} is somebody else's, and has changed`;
  }
}

function fill(directory: string): void {
  mkdirSync(join(directory, "below"), { recursive: true });
  for (const name of FILES) writeFileSync(join(directory, name), CONTENT);
}

function isWhole(directory: string): boolean {
  try {
    const isSame = FILES.every((name) => readFileSync(join(directory, name), "utf8") === CONTENT);
    return isSame && readdirSync(directory, { recursive: true }).length === FILES.length + 1;
  } catch {
    return false;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
