/**
 * Mounts and unmounts overlays of root file systems with mount(8) and umount(8). One process serves all requests that come together or while
 * another process runs, because starting a process costs this daemon more than the mount itself.
 */
import { setImmediate } from "node:timers/promises";
import { isMountPoint } from "../../node/index.ts";
import { asMemoryFile } from "../secrets/index.ts";
import { runTool } from "./tool.ts";

/** libmount of util-linux 2.39 and later uses the newer mount interface of the kernel, which takes at most 255 bytes for one option. */
const OLD_INTERFACE = { LIBMOUNT_FORCE_MOUNT2: "always" };
/** Maximum number of requests for one process, whose command line is limited. */
const MOST_REQUESTS = 64;

interface Request {
  readonly args: readonly string[];
  readonly done: () => void;
}

/** Collects requests that arrive while a call is running, and serves them with one call. Calls run one after the other. */
class Batcher {
  readonly #serve: (args: readonly string[]) => Promise<unknown>;
  #waiting: Request[] = [];
  #isBusy = false;

  constructor(serve: (args: readonly string[]) => Promise<unknown>) {
    this.#serve = serve;
  }

  /** Resolves when a call with these arguments has ended, successfully or not. */
  ask(...args: readonly string[]): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ args, done });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // The containers of a task make their requests one after the other in the same turn of the event loop.
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
  /** Working directory to which names of layers are usually relative. */
  readonly #cwd: string;
  readonly #mounting: Batcher;
  readonly #unmounting = new Batcher((paths) => runTool("umount", paths));

  constructor(cwd: string) {
    this.#cwd = cwd;
    this.#mounting = new Batcher(([options = "", path = "", ...others]) =>
      others.length === 0 ? mountOne(options, path, cwd) : mountAll([options, path, ...others], cwd),
    );
  }

  /**
   * The caller knows that nothing is mounted there.
   * @param cwd directory to which names of layers are relative.
   * @throws ImageError; the reason of `signal`
   */
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

/** If a mount fails, the caller repeats it alone to get the reason. @param pairs options and mount point of each overlay */
function mountAll(pairs: readonly string[], cwd: string): Promise<unknown> {
  const lines = pairs.flatMap((options, at) =>
    at % 2 === 0 ? [`overlay ${escapeField(pairs[at + 1]!)} overlay ${escapeField(options)} 0 0\n`] : [],
  );
  return asMemoryFile(Buffer.from(lines.join("")), (descriptor) =>
    runTool("mount", ["--all", "--fstab", "/proc/self/fd/3"], { cwd, env: OLD_INTERFACE, descriptors: [descriptor] }),
  );
}

/** Writes white space and backslashes as octal numbers, as fstab(5) requires. */
function escapeField(field: string): string {
  return field.replace(/[\s\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

/** @throws ImageError; the reason of `signal` */
function mountOne(options: string, path: string, cwd: string, signal?: AbortSignal): Promise<unknown> {
  const args = ["-t", "overlay", "overlay", "-o", options, path];
  return runTool("mount", args, { cwd, env: OLD_INTERFACE, ...(signal === undefined ? {} : { signal }) });
}
