/**
 * Logins to registries, in the file that pulls read: the next pull uses what `runtctl login` has written. The daemon writes it, because its user reads it. The
 * file decides which helpers run as that user, so that a file which others may write is refused.
 */
import { basename, dirname, join } from "node:path";
import { checkLogin, ImageError, makeDirectories, type SecretSource } from "../../engine/index.ts";
import { untilAnswered, writeAtomically } from "../../node/index.ts";
import { log } from "../log.ts";
import { readTrustedFile, trustedDirectory, UntrustedFileError } from "../trusted-file.ts";
import {
  type AuthFile,
  canonicalKey,
  hasEntry,
  helperFor,
  hostOf,
  type Login,
  loginIn,
  parseAuthFile,
  registriesIn,
  registryKey,
  renderAuthFile,
  withHelper,
  withLogin,
  withoutLogin,
  withoutLogins,
} from "./auth-file.ts";
import { LoginError } from "./errors.ts";
import { eraseInHelper, listInHelper, storeInHelper, userInHelper } from "./helper.ts";

/** Which file is meant. */
export interface Place {
  /** Absolute path. */
  readonly file?: string | undefined;
  /** Name of the daemon's credentials. Default: those that pulls use if they name none. */
  readonly credentials?: string | undefined;
}

export interface LoginsOptions {
  /** Of the engine, by name. */
  readonly credentials: Readonly<Record<string, SecretSource>>;
  /** A directory of the daemon's that stays empty. */
  readonly directory: string;
  /** Default: that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** In bytes. */
const LARGEST_FILE = 1 << 20;
const DEFAULT = "default";
/** Logins that wait at once, at most: each asks a registry, which may not answer for a minute. */
const MOST_WAITING = 16;

export class Logins {
  readonly #options: LoginsOptions;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  /**
   * Asks the registry, and then writes the file. Several logins ask at once, and they write one after the other.
   * Returns the file, the helper that has the password, and the name of the credentials for which pulls read the file, if they do.
   * @param signal ends it before the file is written
   * @throws LoginError; the reason of `signal`
   */
  login(registry: string, login: Login, place: Place, signal: AbortSignal) {
    return this.#counted(async () => {
      const key = registryKey(registry);
      const path = await this.#pathOf(place, signal);
      keeperOf(readAuthFile(path) ?? {}, key, path);
      // What cannot be written is refused before the registry or a helper has the password.
      if (place.file === undefined && place.credentials === undefined) makeDirectories(dirname(path), 0o700);
      placeOf(path);
      makeDirectories(this.#options.directory, 0o700);
      await orRefused(() => checkLogin({ registry: key, ...login }, this.#options.directory, signal));
      return this.#inTurn(async () => {
        signal.throwIfAborted();
        const helper = keeperOf(readAuthFile(path) ?? {}, key, path);
        if (helper !== undefined) await storeInHelper(helper, hostOf(key), login);
        change(path, (file) => (helper === undefined ? withLogin(file, key, login) : withHelper(file, key, helper)));
        log("info", "registry-login", { registry: key, file: path });
        return { registry: key, file: path, helper: helper ?? null, readAs: this.#readAs(path) };
      });
    });
  }

  /**
   * @param registry undefined: all that the file and its helpers have. Helpers that refuse do not keep the other logins
   * @param signal ends the wait for the file
   * @throws LoginError not-logged-in, login-failed; the reason of `signal`
   */
  logout(registry: string | undefined, place: Place, signal: AbortSignal) {
    return this.#counted(async () => {
      const path = await this.#pathOf(place, signal);
      return this.#inTurn(async () => {
        const file = readAuthFile(path);
        if (file === undefined && registry !== undefined) throw notLoggedIn(registryKey(registry), path);
        if (file === undefined) return { removed: [], file: path };
        const { removed, failures } =
          registry === undefined ? await dropAll(file) : { removed: await dropOne(file, registryKey(registry), path), failures: [] };
        const withoutThem = (now: AuthFile) => removed.reduce((rest, name) => withoutLogin(rest, canonicalKey(name)), now);
        change(path, (now) => (registry === undefined && failures.length === 0 ? withoutLogins(now) : withoutThem(now)));
        log("info", "registry-logout", { registries: removed.join(", "), file: path });
        if (failures.length > 0) throw new LoginError("login-failed", `not all logins are removed: ${failures.join("; ")}`);
        return { removed, file: path };
      });
    });
  }

  /** The user that is logged in. @param signal ends the wait for the file @throws LoginError not-logged-in, login-failed; the reason of `signal` */
  async user(registry: string, place: Place, signal: AbortSignal) {
    const key = registryKey(registry);
    const path = await this.#pathOf(place, signal);
    const file = readAuthFile(path) ?? {};
    const helper = helperFor(file, key);
    const username =
      loginIn(file, key)?.username ?? (helper === undefined || key !== hostOf(key) ? undefined : await userInHelper(helper, key));
    if (username === undefined) throw notLoggedIn(key, path);
    return { username, file: path };
  }

  /** The file, whose mount answers. @throws LoginError; the reason of `signal` */
  async #pathOf(place: Place, signal: AbortSignal): Promise<string> {
    const path = this.#namedBy(place);
    try {
      await untilAnswered([path], { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new LoginError("login-failed", (error as Error).message, { cause: error });
    }
    return path;
  }

  /** @throws LoginError: a program prints the credentials, or there are none with the name */
  #namedBy({ file, credentials: name = DEFAULT }: Place): string {
    if (file !== undefined) return file;
    const source = this.#options.credentials[name];
    if (source === undefined && name !== DEFAULT)
      throw new LoginError("login-failed", `this host has no credentials with the name ${JSON.stringify(name)}`);
    if (source === undefined) return this.#usualPath;
    if ("file" in source) return source.file;
    throw new LoginError(
      "login-failed",
      `the program ${source.exec[0]} has the credentials ${name} of this host, which a login cannot change`,
    );
  }

  /** Name of the credentials for which pulls read the file; null: none do. */
  #readAs(path: string): string | null {
    const { credentials } = this.#options;
    const named = Object.entries(credentials).find(([, source]) => "file" in source && source.file === path);
    if (named !== undefined) return named[0];
    return credentials[DEFAULT] === undefined && path === this.#usualPath ? DEFAULT : null;
  }

  /** The file that skopeo reads if none is named. Source: containers-auth.json(5). */
  get #usualPath(): string {
    const { REGISTRY_AUTH_FILE: named, XDG_RUNTIME_DIR: runtime } = this.#options.environment ?? process.env;
    return named || join(runtime || `/run/containers/${process.geteuid!()}`, runtime ? "containers/auth.json" : "auth.json");
  }

  /** @throws LoginError: too many wait */
  async #counted<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MOST_WAITING) throw new LoginError("login-failed", "too many logins wait for their registries: try again later");
    this.#waiting++;
    try {
      return await work();
    } finally {
      this.#waiting--;
    }
  }

  /** One after the other, so that none overwrites what another has written. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** The helper that is to have the password. @throws LoginError: helpers have no logins of namespaces */
function keeperOf(file: AuthFile, key: string, path: string): string | undefined {
  const helper = helperFor(file, key);
  if (helper === undefined || key === hostOf(key)) return helper;
  throw new LoginError(
    "login-failed",
    `${path} leaves ${hostOf(key)} to docker-credential-${helper}, which has no logins of namespaces: log in to ${hostOf(key)}`,
  );
}

async function dropOne(file: AuthFile, key: string, path: string): Promise<string[]> {
  const helper = key === hostOf(key) ? helperFor(file, key) : undefined;
  const wasInHelper = helper !== undefined && (await eraseInHelper(helper, key));
  if (!wasInHelper && !hasEntry(file, key)) throw notLoggedIn(key, path);
  return [key];
}

/** Messages of helpers that are told, at most. */
const MOST_FAILURES = 5;

/** Asks each helper, also after one has refused. */
async function dropAll(file: AuthFile): Promise<{ readonly removed: string[]; readonly failures: readonly string[] }> {
  const removed: string[] = [];
  const failures: string[] = [];
  const tried = async (action: () => Promise<void>) => {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof LoginError)) throw error;
      if (failures.length < MOST_FAILURES) failures.push(error.message);
    }
  };
  const stored: string[] = [];
  if (file.credsStore) await tried(async () => void stored.push(...(await listInHelper(file.credsStore!))));
  for (const name of new Set([...registriesIn(file), ...stored]))
    await tried(async () => {
      const helper = file.credHelpers?.[name] || (file.credsStore ?? "");
      if (helper !== "") await eraseInHelper(helper, name);
      removed.push(name);
    });
  return { removed, failures };
}

function notLoggedIn(key: string, path: string): LoginError {
  return new LoginError("not-logged-in", `${path} has no login for ${key}`);
}

/** undefined: there is none. @throws LoginError */
function readAuthFile(path: string): AuthFile | undefined {
  try {
    return parseAuthFile(readTrustedFile(path, LARGEST_FILE).text, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw refusal(error);
  }
}

/** What another program has written meanwhile is kept: between reading and writing this process does nothing else. @throws LoginError */
function change(path: string, edit: (file: AuthFile) => AuthFile): void {
  const text = renderAuthFile(edit(readAuthFile(path) ?? {}));
  try {
    writeAtomically(placeOf(path), text, { durability: "file" });
  } catch (error) {
    throw refusal(error);
  }
}

/** The path without links above the file. @throws LoginError: the directory is missing, or others may write it */
function placeOf(path: string): string {
  try {
    return join(trustedDirectory(dirname(path)), basename(path));
  } catch (error) {
    throw refusal(error);
  }
}

function refusal(error: unknown): unknown {
  const isOfFile = error instanceof UntrustedFileError || (error as NodeJS.ErrnoException).syscall !== undefined;
  return isOfFile ? new LoginError("login-failed", (error as Error).message, { cause: error }) : error;
}

/** @throws LoginError; what else `action` throws */
async function orRefused(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw error instanceof ImageError ? new LoginError("login-failed", error.message, { cause: error }) : error;
  }
}
