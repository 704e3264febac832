/** Names of images as people type them: nginx, shop/web:v2, registry.example/web. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { dockerHub, imageReference } from "../pod/index.ts";

/** In bytes: a larger file of registries is left out. */
const LARGEST = 1024 * 1024;

/** What begins so is a reference, also a wrong one. An image may be called "docker". */
const TRANSPORT = /^(?:oci|oci-archive|docker-archive):|^docker:\/\//;

/**
 * The reference for a name. A reference of the engine stays the same. A name without a registry is looked for where RUNT_IMAGES says. Without RUNT_IMAGES it is the image for
 * which a registries.conf(5) of this host has an alias, otherwise an image of docker.io.
 * @param files texts of registries.conf(5), the one with precedence last; default: those of this host
 */
export function referenceOf(name: string, files: () => readonly string[] = filesOfHost): string {
  const direct = TRANSPORT.test(name) ? name : imageReference(name, process.env["RUNT_IMAGES"] || undefined);
  if (direct !== undefined) return direct;
  const [, short = name, rest = ""] = /^(.*?)((?::[^:/@]*)?(?:@.*)?)$/s.exec(name) ?? [];
  const full = files()
    .flatMap((text) => [...aliasesIn(text)])
    .findLast(([alias]) => alias === short)?.[1];
  // An alias that was taken away is the empty text.
  const found = full === undefined || full === "" ? undefined : imageReference(`${full}${rest}`, undefined);
  return found ?? imageReference(name, dockerHub(short))!;
}

/** Entries of the table `aliases`: a line each, as in the files that distributions install. */
export function aliasesIn(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let isInTable = false;
  for (const line of text.split("\n")) {
    const [, table] = /^\s*\[+\s*([^\]]*?)\s*\]+\s*(?:#.*)?$/.exec(line) ?? [];
    if (table !== undefined) isInTable = table === "aliases";
    const [, double, single, bare, value, other] =
      /^\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*=\s*(?:"([^"]*)"|'([^']*)')\s*(?:#.*)?$/.exec(line) ?? [];
    const alias = double ?? single ?? bare;
    if (isInTable && alias !== undefined) found.set(alias, value ?? other ?? "");
  }
  return found;
}

/** Texts of the files that containers/image reads, in its order. */
function filesOfHost(): string[] {
  const own = join(homedir(), ".config/containers");
  const main = process.env["CONTAINERS_REGISTRIES_CONF"] || [join(own, "registries.conf"), "/etc/containers/registries.conf"];
  const first = (typeof main === "string" ? [main] : main).map(textOf).find((text) => text !== undefined);
  const dropIns = ["/etc/containers", own].flatMap((directory) => confsIn(join(directory, "registries.conf.d")));
  const chosen = join(process.geteuid?.() === 0 ? "/var/cache" : join(homedir(), ".cache"), "containers/short-name-aliases.conf");
  return [first, ...dropIns.map(textOf), textOf(chosen)].filter((text) => text !== undefined);
}

function confsIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(".conf"))
      .sort()
      .map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/** undefined: it is no regular file that can be read, or it is too large. What is no file could block for ever. */
function textOf(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || size > LARGEST) return undefined;
    const bytes = Buffer.alloc(size);
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, size, 0));
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
