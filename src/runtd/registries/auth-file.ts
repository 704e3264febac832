/** The file with logins to registries, as `podman login` and `docker login` write it. Pure. Source: containers-auth.json(5). */
import { z } from "zod";
import { LoginError } from "./errors.ts";

/** What else is in the file stays there. */
export interface AuthFile {
  readonly auths?: Readonly<Record<string, { readonly auth?: string }>> | null;
  /** Programs that keep the passwords of single registries: the part of the name behind docker-credential-. */
  readonly credHelpers?: Readonly<Record<string, string>> | null;
  /** The program for all other registries. Docker reads it, and skopeo does not. */
  readonly credsStore?: string | null;
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

const SHAPE = z.looseObject({
  auths: z.record(z.string(), z.looseObject({ auth: z.string().optional() })).nullish(),
  credHelpers: z.record(z.string(), z.string()).nullish(),
  credsStore: z.string().nullish(),
});

/** An empty text is a file without logins. @throws LoginError login-failed: it is no such file */
export function parseAuthFile(text: string, path: string): AuthFile {
  const value = text.trim() === "" ? {} : parsed(text);
  // The message of the parser would show a part of a password.
  if (!SHAPE.safeParse(value).success)
    throw new LoginError("login-failed", `${path} is no JSON as in containers-auth.json(5), and stays as it is`);
  return value as AuthFile;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function renderAuthFile(file: AuthFile): string {
  return `${JSON.stringify(file, null, "\t")}\n`;
}

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const NAMESPACE = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const DOCKER = "docker.io";
/** Other names of docker.io. Source: containers/image, normalizeRegistry. */
const OF_DOCKER = ["index.docker.io", "registry-1.docker.io"];

/** The name of a registry, or of a namespace in one, in such a file: HOST[:PORT][/NAMESPACE]. @throws LoginError login-failed */
export function registryKey(text: string): string {
  const isUrl = /^https?:\/\//.test(text);
  const [host = "", ...path] = text
    .replace(/^https?:\/\//, "")
    .replace(/\/+$/, "")
    .split("/");
  // A URL is the name of a whole registry, such as https://index.docker.io/v1/.
  const names = isUrl ? [] : path;
  if (!HOST.test(host) || !names.every((name) => NAMESPACE.test(name)))
    throw new LoginError("login-failed", `${JSON.stringify(text)} is no registry: it has to be HOST[:PORT] or HOST[:PORT]/NAMESPACE`);
  return [OF_DOCKER.includes(host) ? DOCKER : host, ...names].join("/");
}

/** The same for a name in a file. A name that is no registry stays as it is. */
export function canonicalKey(name: string): string {
  try {
    return registryKey(name);
  } catch {
    return name;
  }
}

/** Names of a file that mean the same registry or namespace. */
function sameKeys(all: Readonly<Record<string, unknown>> | null | undefined, key: string): string[] {
  return Object.keys(all ?? {}).filter((name) => canonicalKey(name) === key);
}

export const hostOf = (key: string): string => key.split("/")[0]!;

/** The helper that keeps the password of a registry; undefined: the file itself has it. */
export function helperFor({ credHelpers, credsStore }: AuthFile, key: string): string | undefined {
  const [name] = sameKeys(credHelpers, hostOf(key));
  // An empty name stands for no helper.
  return (name === undefined ? credsStore : credHelpers?.[name]) || undefined;
}

/** undefined: the file has none. */
export function loginIn({ auths }: AuthFile, key: string): Login | undefined {
  const encoded = sameKeys(auths, key).flatMap((name) => auths?.[name]?.auth || [])[0];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, "base64").toString();
  const at = pair.indexOf(":");
  return at < 0 ? undefined : { username: pair.slice(0, at), password: pair.slice(at + 1) };
}

export function withLogin(file: AuthFile, key: string, { username, password }: Login): AuthFile {
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  return { ...file, auths: { ...file.auths, [key]: { auth } } };
}

/** A helper has the password. The name of the registry is left in the file, as docker leaves it; skopeo looks for helpers in `credHelpers` only. */
export function withHelper(file: AuthFile, key: string, helper: string): AuthFile {
  const isNamed = sameKeys(file.credHelpers, key).length > 0;
  const credHelpers = { ...file.credHelpers, ...(isNamed ? {} : { [key]: helper }) };
  return { ...file, auths: { ...without(file.auths, sameKeys(file.auths, key)), [key]: {} }, credHelpers };
}

export function hasEntry({ auths }: AuthFile, key: string): boolean {
  return sameKeys(auths, key).length > 0;
}

export function withoutLogin(file: AuthFile, key: string): AuthFile {
  return { ...file, auths: without(file.auths, sameKeys(file.auths, key)) };
}

export function withoutLogins(file: AuthFile): AuthFile {
  return { ...file, auths: {} };
}

/** Registries with logins in the file, or with helpers that the file names for them. */
export function registriesIn({ auths, credHelpers }: AuthFile): string[] {
  return [...new Set([...Object.keys(auths ?? {}), ...Object.keys(credHelpers ?? {})])];
}

function without<T>(all: Readonly<Record<string, T>> | null | undefined, names: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(all ?? {}).filter(([name]) => !names.includes(name)));
}
