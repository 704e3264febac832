/** Being told of changes of an exit record. */
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";

/** A dead monitor writes nothing any more: found out this often. */
const LOOK_MS = 500;
/** But all looks together are not more than one in this time: of a thousand containers each is looked at every five seconds. */
const EACH_MS = 5;

/** That are open in this process. */
let watches = 0;

export interface RecordWatch {
  /** The next time `look` is worth while. */
  readonly changed: () => Promise<void>;
  ref(): void;
  unref(): void;
  close(): void;
}

/** Wake up when the file changes, and now and then: a monitor that was killed changes nothing. Does not keep the process alive until ref(). */
export function watchRecord(path: string): RecordWatch {
  let wake: () => void = () => {};
  let pending = false;
  const notify = () => {
    pending = true;
    wake();
  };
  watches++;
  let isHeld = false;
  let timer: NodeJS.Timeout;
  const arm = () => {
    timer = setTimeout(
      () => {
        arm();
        notify();
      },
      Math.max(LOOK_MS, watches * EACH_MS),
    );
    if (!isHeld) timer.unref();
  };
  arm();
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(dirname(path), (_, name) => {
      if (name === null || name.startsWith(basename(path))) notify();
    });
    watcher.on("error", () => watcher?.close());
    watcher.unref();
  } catch {
    // No more inotify instances for this user: the timer does.
  }
  return {
    changed: () =>
      new Promise<void>((resolve) => {
        wake = () => {
          pending = false;
          wake = () => {};
          resolve();
        };
        if (pending) wake();
      }),
    ref() {
      isHeld = true;
      timer.ref();
      watcher?.ref();
    },
    unref() {
      isHeld = false;
      timer.unref();
      watcher?.unref();
    },
    close() {
      watches--;
      clearTimeout(timer);
      watcher?.close();
    },
  };
}
