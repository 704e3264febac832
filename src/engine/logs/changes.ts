/** Notifies a reader when a log has grown. */
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** Polling interval in milliseconds, for hosts without free inotify watches and for changes that inotify does not report. */
const LOOK_MS = 1_000;

export interface LogWatch {
  /** Resolves when something has changed since the last call, or when the polling interval is over. */
  changed(): Promise<void>;
  /** Wakes the reader for a reason other than a change of the file. */
  wake(): void;
  close(): void;
}

/** Watches the directory, because rotation renames the files. */
export function watchLog(path: string): LogWatch {
  let pending = false;
  let settle: (() => void) | undefined;
  const wake = () => {
    pending = true;
    settle?.();
  };
  const timer = setInterval(wake, LOOK_MS);
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(path), wake);
    watcher.on("error", () => watcher?.close());
  } catch {
    // The directory is missing, or this user has no inotify watches left. Polling still works.
  }
  return {
    async changed() {
      if (!pending)
        await new Promise<void>((resolve) => {
          settle = resolve;
        });
      settle = undefined;
      pending = false;
    },
    wake,
    close() {
      clearInterval(timer);
      watcher?.close();
      wake();
    },
  };
}
