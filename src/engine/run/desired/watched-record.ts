/** What the store has of the files of watched directories. */

/** What was applied last of a file. */
export interface WatchedFile {
  readonly group: string;
  /** Of the content. */
  readonly digest: string;
  /** Absent: the file is in no work tree of git, or its commit could not be read. */
  readonly commit?: string | undefined;
  /** On which its directory is, in words that are the same after a reboot. Absent: an earlier version has applied it. */
  readonly fileSystem?: string | undefined;
}

/** By the absolute path of the file. */
export type Watched = Readonly<Record<string, WatchedFile>>;
