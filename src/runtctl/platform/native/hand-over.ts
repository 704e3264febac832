/** The client on Node goes on in the place of this program. */
import { argv, execute, memfd, realpath, write } from "runt:client";

/** Where that client is, seen from the directory of this program: as installed, and in the tree that it was built in. */
const PLACES = ["../libexec/runt/runtctl", "../dist/runtctl/main.js"] as const;
/** EX_UNAVAILABLE of sysexits.h, as the launcher of that client has it. */
const UNAVAILABLE = 69;
const STDERR = 2;

let isBegun = false;
let input: Uint8Array | undefined;

/** From now on something is changed or printed. */
export function begin(): void {
  isBegun = true;
}

/** The standard input was read: this is what it had. */
export function keepInput(bytes: Uint8Array): void {
  input = bytes;
}

/** Returns the exit status if that client is not there. @throws Error: this program has begun by itself */
export function handOver(): number {
  if (isBegun) throw new Error("handed over after something was done");
  const directory = realpath("/proc/self/exe").replace(/[^/]*$/, "");
  const [, ...words] = argv();
  const stdin = input === undefined ? -1 : memfd("stdin", input.slice().buffer as ArrayBuffer);
  let reason = "";
  for (const place of PLACES) {
    try {
      execute(`${directory}${place}`, ["runtctl", ...words], stdin);
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message: string };
      if (code !== "ENOENT") reason = `: ${message}`;
    }
  }
  write(STDERR, `runtctl: this needs the client that runs on Node.js, which is not installed beside this program${reason}\n`);
  return UNAVAILABLE;
}
