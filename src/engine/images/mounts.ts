/** Overlays of root file systems are mounted and unmounted by programs. One process serves all who ask at the same time, or while the one before is busy: starting it costs this daemon more than its work. */
import { setImmediate } from "node:timers/promises";
import { isMountPoint } from "../../node/index.ts";
import { asMemoryFile } from "../secrets/index.ts";
import { runTool } from "./tool.ts";

/** The newer interface of the kernel takes 255 bytes for one option (libmount of util-linux 2.39 and later). */
const OLD_INTERFACE = { LIBMOUNT_FORCE_MOUNT2: "always" };
/** The command line of one process is bounded. */
const MOST_REQUESTS = 64;

interface Request {
  readonly args: readonly string[];
  readonly done: () => void;
}

/** Calls `serve` with the arguments of all requests that have come meanwhile, one call after the other. */
class Together {
  readonly #serve: (args: readonly string[]) => Promise<unknown>;
  #waiting: Request[] = [];
  #isBusy = false;

  constructor(serve: (args: readonly string[]) => Promise<unknown>) {
    this.#serve = serve;
  }

  /** Resolves when a call with these arguments has ended, however. */
  ask(...args: readonly string[]): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ args, done });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // The containers of a task ask one after the other, all in one turn of the engine.
    await setImmediate();
    while (this.#waiting.length > 0) {
      const requests = this.#waiting.slice(0, MOST_REQUESTS);
      this.#waiting = this.#waiting.slice(MOST_REQUESTS);
      await this.#serve(requests.flatMap(({ args }) => args)).catch(() => {});
      for (const { done } of requests) done();
    }
    this.#isBusy = false;
  }
}

export class Mounts {
  /** The directory from which layers are usually named. */
  readonly #cwd: string;
  readonly #mounting: Together;
  readonly #unmounting = new Together((paths) => runTool("umount", paths));

  constructor(cwd: string) {
    this.#cwd = cwd;
    this.#mounting = new Together(([options = "", path = "", ...others]) =>
      others.length === 0 ? mountOne(options, path, cwd) : mountAll([options, path, ...others], cwd),
    );
  }

  /** Nothing is mounted there. @param cwd from where layers are named. @throws ImageError; the reason of `signal` */
  async overlay(options: string, path: string, signal: AbortSignal, cwd = this.#cwd): Promise<void> {
    signal.throwIfAborted();
    if (cwd === this.#cwd) await this.#mounting.ask(options, path);
    if (!isMountPoint(path)) await mountOne(options, path, cwd, signal);
  }

  /** Succeeds if nothing is mounted there. @throws ImageError: it is in use */
  async unmount(path: string): Promise<void> {
    if (isMountPoint(path)) await this.#unmounting.ask(path);
    while (isMountPoint(path)) await runTool("umount", [path]);
  }
}

/** Who is left without a mount asks again alone, for the reason. @param pairs options and a directory */
function mountAll(pairs: readonly string[], cwd: string): Promise<unknown> {
  const lines = pairs.flatMap((options, at) =>
    at % 2 === 0 ? [`overlay ${escaped(pairs[at + 1]!)} overlay ${escaped(options)} 0 0\n`] : [],
  );
  return asMemoryFile(Buffer.from(lines.join("")), (descriptor) =>
    runTool("mount", ["--all", "--fstab", "/proc/self/fd/3"], { cwd, env: OLD_INTERFACE, descriptors: [descriptor] }),
  );
}

/** fstab(5) has white space, and the backslash that begins it, as octal numbers. */
function escaped(field: string): string {
  return field.replace(/[\s\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

/** @throws ImageError; the reason of `signal` */
function mountOne(options: string, path: string, cwd: string, signal?: AbortSignal): Promise<unknown> {
  const args = ["-t", "overlay", "overlay", "-o", options, path];
  return runTool("mount", args, { cwd, env: OLD_INTERFACE, ...(signal === undefined ? {} : { signal }) });
}
