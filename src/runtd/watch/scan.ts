/** Finds the files of a watched directory. */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Servers } from "../../node/index.ts";
import { identityOf, trustedDirectory } from "../trusted-file.ts";

/** Levels of directories below the watched one. */
const DEEPEST = 8;
/** Files and directories that are looked at. */
const MOST_ENTRIES = 10_000;
const FILE = /\.(?:ya?ml|json)$/;
/** Of these the first one is the project of its directory. Source: Compose. */
const COMPOSE = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
const QUADLET = /\.(?:container|pod|volume|network|image|build|kube)$/;

export interface Found {
  /** Identity of each file, by path, in order. */
  readonly files: ReadonlyMap<string, string>;
  /** By the path of what is not read. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Names that begin with a dot are left out, such as `.git`. Links are not followed.
 * A mount below the directory whose server does not answer is refused, and the rest is read.
 * @throws UntrustedFileError; Error: the directory does not answer, or has too many entries; the errors of the system calls
 */
export async function filesBelow(directory: string, servers: Servers): Promise<Found> {
  // What follows has the thread of the daemon. A server that stops answering from here on is not noticed.
  await servers.answered(directory);
  const files = new Map<string, string>();
  const refused = new Map<string, string>();
  let left = MOST_ENTRIES;
  const look = async (path: string, real: string, level: number): Promise<void> => {
    trustedDirectory(path);
    const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    const project = COMPOSE.find((name) => entries.some((one) => one.name === name));
    // What is beside a Compose file and below it belongs to the project: it may be the configuration of a service.
    for (const entry of project === undefined ? entries : entries.filter(({ name }) => name === project)) {
      if (entry.name.startsWith(".")) continue;
      if (left-- === 0) throw new Error(`${directory} has more than ${MOST_ENTRIES} files and directories`);
      const inner = join(path, entry.name);
      const place = join(real, entry.name);
      const isRead = entry.isDirectory() ? level < DEEPEST : FILE.test(entry.name) && !entry.isSymbolicLink();
      const problem = isRead ? await problemOf(place, servers) : "";
      if (entry.isDirectory() && level === DEEPEST) refused.set(inner, `it is more than ${DEEPEST} directories deep`);
      else if (problem !== "") refused.set(inner, problem);
      else if (entry.isDirectory()) await looked(inner, place, level + 1);
      else if (QUADLET.test(entry.name)) refused.set(inner, "files of Quadlet are not watched: apply them with runtctl apply -f DIRECTORY");
      else if (FILE.test(entry.name) && entry.isSymbolicLink()) refused.set(inner, "it is a symbolic link");
      else if (FILE.test(entry.name)) {
        // A file that has just gone is not there.
        const found = lstatSync(inner, { throwIfNoEntry: false });
        if (found !== undefined) files.set(inner, identityOf(found));
      }
    }
  };
  /** An inner directory that others may write does not keep the other files from being read. */
  const looked = async (path: string, real: string, level: number): Promise<void> => {
    try {
      await look(path, real, level);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      refused.set(path, message);
    }
  };
  await look(directory, realpathSync(directory), 0);
  return { files, refused };
}

/** Why what is mounted at a path is not looked at; "": nothing keeps from it. */
async function problemOf(path: string, servers: Servers): Promise<string> {
  if (!servers.isPoint(path)) return "";
  try {
    await servers.entryAnswered(path);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
