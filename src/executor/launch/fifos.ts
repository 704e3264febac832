/** Node cannot make FIFOs. mkfifo(1) can: one process of it serves all who ask while the one before is busy. */
import { statSync } from "node:fs";
import { PROGRAM_MS, runProgram } from "../../node/index.ts";

interface Request {
  readonly paths: readonly string[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The command line of one process is bounded. */
const MOST_REQUESTS = 64;

let waiting: Request[] = [];
let isBusy = false;

/** With mode 0600. Nothing has these names. @throws the error of mkfifo(1) */
export function makeFifos(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    waiting.push({ paths, resolve, reject });
    if (!isBusy) void serve();
  });
}

async function serve(): Promise<void> {
  isBusy = true;
  while (waiting.length > 0) {
    const requests = waiting.slice(0, MOST_REQUESTS);
    waiting = waiting.slice(MOST_REQUESTS);
    const paths = requests.flatMap((request) => request.paths);
    const { message, stderr } = await runProgram("mkfifo", ["-m", "600", ...paths], { isAlone: true, timeoutMs: PROGRAM_MS });
    const error = message === "" ? undefined : new Error(stderr.trim() || message);
    // It goes on after a name that it cannot make.
    for (const { paths: wanted, resolve, reject } of requests) error === undefined || wanted.every(isFifo) ? resolve() : reject(error);
  }
  isBusy = false;
}

function isFifo(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false;
}
