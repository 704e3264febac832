/** Notifies a reader when a log has grown. */
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** Interval of polling, for hosts without inotify watches and for events that inotify does not report. */
const LOOK_MS = 1_000;

export interface LogWatch {
  /** Resolves when something has changed since the last call, or when the polling interval is over. */
  changed(): Promise<void>;
  /** Wakes the reader for another reason than a growing file. */
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
    // The directory is missing, or this user has no more watches: the timer is enough.
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
