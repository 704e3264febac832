/** Being told that a log has grown. */
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/** Where the kernel gives no watch, and for whatever it does not tell. */
const LOOK_MS = 1_000;

export interface LogWatch {
  /** Settles when something has changed since the last time, or it is time for a look. */
  changed(): Promise<void>;
  /** Something else has changed that a reader has to know. */
  wake(): void;
  close(): void;
}

/** The directory is watched, for files in it are renamed. */
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
    // No directory yet, or no more watches for this user: the timer does.
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
