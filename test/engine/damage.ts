/** How a file of a container's records is lost or damaged, for tests. */
import { mkdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { runSync } from "../support/run-sync.ts";

/** Each is called with the path of a file that is there. */
export const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  gone: (path) => rmSync(path, { recursive: true }),
  empty: (path) => truncateSync(path, 0),
  "cut off": (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  garbage: (path) => writeFileSync(path, Buffer.from("\u0000\u00ff[1]")),
  "a directory": (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  "a FIFO": (path) => {
    rmSync(path);
    runSync("mkfifo", [path]);
  },
  "a link": (path) => {
    rmSync(path);
    symlinkSync("/etc/passwd", path);
  },
};
