/**
 * Builds images with buildah, one after the other, and takes the result into the store.
 *
 * A Dockerfile and its context are not trusted. Commands of RUN are containers of runt with a network namespace and a cgroup of their own. buildah
 * itself runs as root in a pid and a mount namespace: if it is killed, all its processes end and all its mounts disappear. Its layers are below the
 * state directory, and it sees no storage of other programs (docs/security.md).
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { basename, isAbsolute, join, relative } from "node:path";
import { untilAnswered } from "../../node/index.ts";
import { makeOwnDirectory, readOwnFile } from "../own/index.ts";
import { asMemoryFile } from "../secrets/index.ts";
import { type ImageBuild, isRemoteContext } from "../spec/index.ts";
import { removeScratch } from "../volumes/index.ts";
import { Buildah } from "./buildah.ts";
import { type Credentials, withCredentials } from "./credentials.ts";
import { ImageError } from "./errors.ts";
import type { Pin } from "./port.ts";
import { assertInstalled } from "./tool.ts";
import { Slots, within } from "./waiting.ts";

/** The network and the cgroup in which the commands of a build run. */
export interface BuildPlace {
  /** Makes the network. Returns the path of its namespace. */
  makeNetwork(): Promise<string>;
  /** Removes the network. Succeeds if there is none. */
  removeNetwork(): Promise<void>;
  /**
   * Path of the cgroup for the build that works in the directory `run-SUFFIX`: absolute, below each hierarchy. The suffix is random, so that no
   * other daemon has this cgroup.
   */
  cgroupOf(suffix: string): string;
  /** Removes the cgroup with everything in it. Succeeds if it does not exist. */
  removeCgroup(suffix: string): Promise<void>;
}

export interface BuilderOptions {
  /** Absolute path; the directory is made when it is needed. */
  readonly directory: string;
  /** Path of runt, which runs the commands of RUN. */
  readonly runtime: string;
  readonly place: BuildPlace;
  readonly credentials: Credentials;
  /** Milliseconds for one build; default: an hour. */
  readonly timeoutMs: number | undefined;
  /** Whether the file system of `directory` supports overlays. */
  readonly hasOverlays: () => Promise<boolean>;
  /** Takes a docker-archive into the store under these names. */
  readonly take: (archive: string, names: readonly string[], signal: AbortSignal) => Promise<Pin>;
}

const TIMEOUT_MS = 3_600_000;
/** Prefix of the working directory of a build, before a random suffix. */
const RUN = "run-";
/** Maximum size of a Dockerfile, in bytes. */
const LARGEST_FILE = 1024 * 1024;
const HOST_REGISTRIES = "/etc/containers/registries.conf";

export class Builder {
  readonly #options: BuilderOptions;
  readonly #slots = new Slots(1);
  #isBuilding = false;

  constructor(options: BuilderOptions) {
    this.#options = options;
  }

  /** @param onLine called with each line that the builder prints. @throws ImageError; the reason of `signal` */
  async build(asked: ImageBuild, signal: AbortSignal, onLine: (line: string) => void): Promise<Pin> {
    assertInstalled("buildah");
    assertInstalled("unshare");
    await assertContext(asked, signal);
    const { timeoutMs = TIMEOUT_MS, directory } = this.#options;
    return this.#slots.during(signal, async () => {
      this.#isBuilding = true;
      makeOwnDirectory(directory, { mode: 0o700 });
      const late = () => new ImageError("build-failed", `it was not built within ${timeoutMs / 1000} s`);
      try {
        await this.#sweep();
        return await within(timeoutMs, signal, (bound) => this.#build(asked, bound, onLine), late).finally(() => this.#sweep());
      } catch (error) {
        if (error instanceof ImageError || signal.aborted) throw error;
        // The network, the cgroup or the disk has failed.
        throw new ImageError("build-failed", (error as Error).message, { cause: error });
      } finally {
        this.#isBuilding = false;
      }
    });
  }

  /** Removes what an interrupted build of an earlier daemon has left. */
  async sweep(): Promise<void> {
    if (existsSync(this.#options.directory)) await this.#slots.during(new AbortController().signal, () => this.#sweep());
  }

  async #sweep(): Promise<void> {
    const { directory, place } = this.#options;
    const names = await readdir(directory);
    for (const name of names) {
      if (!name.startsWith(RUN)) continue;
      // The directory is removed last, because its name is needed to find the cgroup.
      await place.removeCgroup(name.slice(RUN.length));
      await removeScratch(join(directory, name));
    }
    await place.removeNetwork();
  }

  /** Removes the layers of the builder if nothing was built for `unusedMs` milliseconds. */
  async dropCache(unusedMs: number): Promise<void> {
    const found = statSync(this.#storage, { throwIfNoEntry: false });
    if (this.#isBuilding || found === undefined) return;
    // A time to come counts as now: the clock is behind, or was ahead.
    if (Math.max(0, Date.now() - found.mtimeMs) < unusedMs) return;
    await this.#slots.during(new AbortController().signal, () => removeScratch(this.#storage));
  }

  get #storage(): string {
    return join(this.#options.directory, "storage");
  }

  async #build(asked: ImageBuild, signal: AbortSignal, onLine: (line: string) => void): Promise<Pin> {
    const { directory, credentials, take, place } = this.#options;
    const run = await mkdtemp(join(directory, RUN));
    const buildah = new Buildah(run, await this.#environment(run), signal);
    // Builds that were killed may have left working containers in the storage.
    await buildah.output(["rm", "--all"]);
    const now = new Date();
    // No earlier time than the one that is there: the clock may be behind until the host has asked for the time.
    if (statSync(this.#storage).mtimeMs < now.getTime()) utimesSync(this.#storage, now, now);
    const network = asked.network === "default" ? `ns:${await place.makeNetwork()}` : asked.network;
    // Other builds may have taken hours.
    await assertContext(asked, signal);
    const dockerfile = dockerfileOf(asked, run);
    const ids = Object.keys(asked.secrets);
    const id = await withCredentials(credentials, undefined, signal, (auth) =>
      withFiles(
        ids.map((one) => Buffer.from(asked.secrets[one]!, "base64")),
        async (files) => {
          const descriptors = auth === undefined ? files : [...files, auth];
          const given = (at: number) => `/proc/self/fd/${at + FIRST_DESCRIPTOR}`;
          const words = [
            ...this.#words(run, network),
            ...(auth === undefined ? [] : [`--authfile=${given(files.length)}`]),
            ...ids.map((one, at) => `--secret=id=${one},src=${given(at)}`),
            ...wordsOf(asked, dockerfile),
          ];
          await buildah.run(["build", ...words], descriptors, onLine);
          return readOwnFile(join(run, "id")).toString().trim();
        },
      ),
    );
    const archive = join(run, "image.tar");
    await buildah.output(["push", "--quiet", id, `docker-archive:${archive}`]);
    return take(archive, [asked.reference, ...asked.tags], signal);
  }

  #words(run: string, network: string): string[] {
    const { runtime, place } = this.#options;
    return [
      // The Docker format keeps health checks, for which an OCI configuration has no field.
      ...["--layers", "--format=docker", "--isolation=oci", `--runtime=${runtime}`],
      ...[`--runtime-flag=root=${join(run, "runt")}`, `--runtime-flag=log=${join(run, "runt.log")}`],
      ...[`--cgroup-parent=${place.cgroupOf(basename(run).slice(RUN.length))}`, `--network=${network}`, `--iidfile=${join(run, "id")}`],
    ];
  }

  /** buildah gets only those variables of the daemon that lead to programs and registries. Others may configure the storage of a user. */
  async #environment(run: string): Promise<NodeJS.ProcessEnv> {
    const driver = (await this.#options.hasOverlays()) ? "overlay" : "vfs";
    const storage = join(run, "storage.conf");
    makeOwnDirectory(this.#storage, { mode: 0o700 });
    const quoted = (path: string) => JSON.stringify(path);
    writeFileSync(
      storage,
      `[storage]\ndriver = "${driver}"\ngraphroot = ${quoted(this.#storage)}\nrunroot = ${quoted(join(run, "storage"))}\n`,
    );
    const registries = join(run, "registries.conf");
    writeFileSync(registries, registriesOf(existsSync(HOST_REGISTRIES) ? readFileSync(HOST_REGISTRIES, "utf8") : ""));
    const kept = Object.entries(process.env).filter(([name]) => name === "PATH" || /^(?:https?|ftp|no)_proxy$/i.test(name));
    return {
      ...Object.fromEntries(kept),
      ...{ HOME: run, TMPDIR: run, CONTAINERS_STORAGE_CONF: storage, CONTAINERS_REGISTRIES_CONF: registries },
    };
  }
}

/** The first descriptor after the standard streams. */
const FIRST_DESCRIPTOR = 3;

/** As in Docker, a name without a registry belongs to docker.io, unless the host's configuration says something else. */
function registriesOf(host: string): string {
  const isSaid = (name: string) => new RegExp(`^\\s*${name}\\s*=`, "m").test(host);
  const lines = [
    ...(isSaid("unqualified-search-registries") ? [] : ['unqualified-search-registries = ["docker.io"]']),
    // buildah must not ask which registry is meant, because nobody can answer, and must not record an answer.
    ...(isSaid("short-name-mode") ? [] : ['short-name-mode = "disabled"']),
  ];
  return `${lines.join("\n")}\n${host}`;
}

/** Calls `action` with descriptors of files that exist only in memory. */
async function withFiles<T>([first, ...rest]: readonly Buffer[], action: (descriptors: readonly number[]) => Promise<T>): Promise<T> {
  if (first === undefined) return action([]);
  return asMemoryFile(first, (descriptor) => withFiles(rest, (others) => action([descriptor, ...others])));
}

/** The request as options of buildah-build(1). */
function wordsOf(asked: ImageBuild, { file, ignored }: Dockerfile): string[] {
  const each = <T>(all: Readonly<Record<string, T>>, word: (name: string, value: T) => string) =>
    Object.entries(all).map(([name, value]) => word(name, value));
  return [
    `--file=${file}`,
    ...(ignored === undefined ? [] : [`--ignorefile=${ignored}`]),
    ...[asked.reference].map((one) => `--tag=${one.slice("docker://".length)}`),
    ...asked.tags.map((one) => `--tag=${one.slice("docker://".length)}`),
    ...(asked.target === undefined ? [] : [`--target=${asked.target}`]),
    ...each(asked.args, (name, value) => `--build-arg=${name}=${value}`),
    ...each(asked.labels, (name, value) => `--label=${name}=${value}`),
    ...each(asked.contexts, (name, value) => `--build-context=${name}=${value}`),
    ...asked.hosts.map(({ name, address }) => `--add-host=${name}:${address}`),
    ...(asked.shmSize === undefined ? [] : [`--shm-size=${asked.shmSize}`]),
    ...each(asked.ulimits, (name, { soft, hard }) => `--ulimit=${name}=${soft}:${hard}`),
    ...each(asked.ssh, (name, path) => (path === "" ? `--ssh=${name}` : `--ssh=${name}=${path}`)),
    ...(asked.noCache ? ["--no-cache"] : []),
    `--pull=${asked.pull ? "always" : "false"}`,
    "--",
    asked.context,
  ];
}

/** @throws ImageError build-failed: the context is no directory, or a path that the daemon opens is on a mount that does not answer; the reason of `signal` */
async function assertContext({ context, dockerfile, inline }: ImageBuild, signal: AbortSignal): Promise<void> {
  if (isRemoteContext(context)) return;
  try {
    await untilAnswered([context, ...(inline === undefined ? [pathOf(dockerfile, context)] : [])], { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new ImageError("build-failed", (error as Error).message, { cause: error });
  }
  const found = statSync(context, { throwIfNoEntry: false });
  if (found?.isDirectory() !== true) throw new ImageError("build-failed", `the context ${context} is not a directory`);
}

interface Dockerfile {
  readonly file: string;
  /** undefined: buildah looks for ignore files itself. */
  readonly ignored: string | undefined;
}

/**
 * Copies the Dockerfile and its ignore file, so that the files that were checked are the ones that are used. For a remote context buildah finds
 * both files itself.
 */
function dockerfileOf({ context, dockerfile, inline }: ImageBuild, run: string): Dockerfile {
  const file = join(run, "Dockerfile");
  const isRemote = isRemoteContext(context);
  if (inline === undefined && isRemote) return { file: dockerfile, ignored: undefined };
  const path = pathOf(dockerfile, context);
  writeFileSync(file, inline ?? textOf(path, context));
  if (isRemote) return { file, ignored: undefined };
  // An ignore file of the Dockerfile comes before those of the context, as in Docker.
  const places = [...(inline === undefined ? [`${path}.dockerignore`] : []), ...IGNORE_FILES.map((name) => join(context, name))];
  const found = places.find((place) => lstatSync(place, { throwIfNoEntry: false }) !== undefined);
  if (found === undefined) return { file, ignored: undefined };
  const ignored = join(run, "ignored");
  writeFileSync(ignored, textOf(found, context));
  return { file, ignored };
}

function pathOf(dockerfile: string, context: string): string {
  return isAbsolute(dockerfile) ? dockerfile : join(context, dockerfile);
}

/** In buildah's order. */
const IGNORE_FILES = [".containerignore", ".dockerignore"];

/** @throws ImageError: the file cannot be read, is no regular file, is too large, or is outside of its context */
function textOf(path: string, context: string): Buffer {
  const refused = (why: string) => new ImageError("build-failed", `${path} ${why}`);
  let descriptor: number;
  try {
    // Opening a FIFO or a device without O_NONBLOCK could block for ever.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    throw refused(`cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  try {
    // The Dockerfile may be outside of its context only if the request says so, not because a link in the context leads there.
    const opened = realpathSync(`/proc/self/fd/${descriptor}`);
    if (isBelow(path, context) && !isBelow(opened, realpathSync(context))) throw refused("leads out of its context");
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw refused("is no regular file");
    if (found.size > LARGEST_FILE) throw refused(`is larger than ${LARGEST_FILE} bytes`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith("../");
}
