/** The table of flags that a bind mount has, by its options and those of its source (test/fixtures/bind-flags.txt), and hosts to hold it against. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./programs.ts";
import { runSync } from "./run-sync.ts";

export interface FlagRow {
  /** "bind,ro" */
  readonly options: string;
  /** Flags of the source: "ro,noatime". */
  readonly source: string;
  /** Flags in the container, sorted, without and with a user namespace; "refused". */
  readonly own: string;
  readonly user: string;
  /** What runc does in a user namespace, if it is something else. */
  readonly runc?: string;
}

/** The same flags are the same text. */
export const sorted = (flags: string): string => flags.split(",").sort().join(",");

export function flagRows(): readonly FlagRow[] {
  const lines = readFileSync(join(REPOSITORY, "test/fixtures/bind-flags.txt"), "utf8").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [options = "", source = "", own = "", user = "", runc] = line.split(" | ");
      return { options, source, own: sorted(own), user: sorted(user), ...(runc !== undefined && { runc: runc.replace("runc: ", "") }) };
    });
}

/** A tmpfs for each of these sets of flags, below a directory that is there. Returns their paths by the flags. */
export function mountSources(directory: string, sources: Iterable<string>): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const flags of new Set(sources)) {
    const at = join(directory, `source-${paths.size}`);
    mkdirSync(at);
    runSync("mount", ["-t", "tmpfs", "-o", "rw,suid,dev,exec,diratime,strictatime,mode=755", "tmpfs", at]);
    paths.set(flags, at);
    // Flags of the mount alone: those of a superblock could not be taken back.
    runSync("mount", ["-o", `remount,bind,diratime,relatime,${flags}`, at]);
  }
  return paths;
}

export function unmountSources(paths: ReadonlyMap<string, string>): void {
  for (const at of paths.values()) runSync("umount", ["-l", at]);
}
