/** The component that a linked or bundled file belongs to, with its version, licence and checksum. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { INSTALLED_PACKAGES } from "../bundle/daemon.ts";
import { debianPackage } from "./debian.ts";
import type { Linked } from "./linked.ts";

export interface Checksum {
  readonly algorithm: "SHA256" | "SHA512";
  /** Hexadecimal. */
  readonly value: string;
}

export interface Component {
  readonly name: string;
  /** undefined: not known. */
  readonly version: string | undefined;
  /** An SPDX licence expression. */
  readonly license: string;
  readonly copyright: string;
  readonly originator: string;
  readonly purl: string | undefined;
  /** What the checksum is of: the source archive where the build has it, else the library. */
  readonly file: string;
  readonly checksum: Checksum;
  /** The text of the licence on this machine. */
  readonly text: string;
  /** How it got into the program. */
  readonly how: "STATIC_LINK" | "CONTAINS";
  /** Object files and modules of it that are in the program. */
  readonly parts: readonly string[];
}

type Facts = Omit<Component, "how" | "parts" | "text"> & { readonly texts: readonly string[] };

interface Library {
  /** Of the path of an object file or archive. */
  readonly files: RegExp;
  readonly facts: (build: string, files: readonly string[]) => Facts;
}

const LIBRARIES: readonly Library[] = [
  {
    files: /\/libquickjs\.a$/,
    facts: (build, [archive]) => ({
      name: "quickjs",
      license: "MIT",
      copyright: "Copyright (c) 2017-2021 Fabrice Bellard; Copyright (c) 2017-2021 Charlie Gordon",
      originator: "Person: Fabrice Bellard",
      texts: [join(build, "quickjs/work/source/LICENSE"), "/usr/share/doc/libquickjs/copyright"],
      ...fetchedSource(join(build, "quickjs"), archive!),
    }),
  },
  {
    files: /\/libseccomp\.a$/,
    facts: (build, [archive]) => ({
      name: "libseccomp",
      license: "LGPL-2.1-only",
      copyright: "Copyright (c) Red Hat; IBM; Microsoft; Canonical; Cisco; and the other authors named in its CREDITS",
      originator: "Organization: the libseccomp project",
      texts: [join(build, "libseccomp/work/source/LICENSE"), "/usr/share/common-licenses/LGPL-2.1"],
      ...fetchedSource(join(build, "libseccomp"), archive!),
    }),
  },
  {
    files: /\/(libc|libm)\.a$|\/(S?crt1|crt[in])\.o$/,
    facts: (_, files) => ({
      name: "musl",
      license: "MIT",
      copyright: "Copyright (c) 2005-2020 Rich Felker and others",
      originator: "Person: Rich Felker",
      texts: ["/usr/share/doc/musl-dev/copyright", "/usr/share/doc/musl/copyright"],
      ...installed(files, /\/libc\.a$/),
    }),
  },
  {
    files: /\/libgcc(_eh)?\.a$|\/crt(begin|end)[ST]?\.o$/,
    facts: (_, files) => ({
      name: "libgcc",
      license: "GPL-3.0-or-later WITH GCC-exception-3.1",
      copyright: "Copyright (c) Free Software Foundation, Inc.",
      originator: "Organization: Free Software Foundation",
      texts: documents(/^gcc-\d+-base$/),
      ...installed(files, /\/libgcc\.a$/),
    }),
  },
];

const OWN = /(^|\/)((program|host|twins|shared|init|client)\/[^/]+|embed)\.o$|\/client\/library\.a$/;

/** @throws Error for a file whose owner is not known: a new library needs an entry here and in NOTICE. */
export function linkedComponents(build: string, linked: readonly Linked[]): Component[] {
  const strangers = linked.filter(({ file }) => !OWN.test(file) && !LIBRARIES.some(({ files }) => files.test(file)));
  if (strangers.length > 0) throw new Error(`sbom: whose is ${strangers.map(({ file }) => file).join(", ")}?`);
  return LIBRARIES.flatMap(({ files, facts }) => {
    const own = linked.filter(({ file }) => !OWN.test(file) && files.test(file));
    if (own.length === 0) return [];
    const parts = own.flatMap(({ file, members }) => (members.length === 0 ? [basename(file)] : members));
    return [
      {
        ...complete(
          facts(
            build,
            own.map(({ file }) => file),
          ),
        ),
        how: "STATIC_LINK" as const,
        parts,
      },
    ];
  });
}

interface LockEntry {
  readonly version: string;
  readonly integrity: string;
  readonly license: string;
}

/** `inputs`: the files that esbuild has bundled (tools/bundle.ts). */
export function bundledComponents(inputs: readonly string[]): Component[] {
  const packages = new Map<string, string[]>();
  for (const file of inputs) {
    const directory = /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
    if (directory === undefined) continue;
    packages.set(directory, [...(packages.get(directory) ?? []), file.slice(directory.length + 1)]);
  }
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, LockEntry | undefined> };
  return [...packages].map(([directory, parts]) => ({ ...complete(bundled(directory, lock.packages[directory])), how: "CONTAINS", parts }));
}

/** Packages of npm that are installed beside the daemon as they are, and what one of them has compiled into itself. */
export function installedComponents(): Component[] {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, LockEntry | undefined> };
  const own = INSTALLED_PACKAGES.map((path) => ({ ...complete(bundled(path, packages[path])), how: "CONTAINS" as const, parts: [path] }));
  return [...own, ...INSTALLED_PACKAGES.filter((path) => path.endsWith(SQLITE_OWNER)).map(prebuiltSqlite)];
}

const SQLITE_OWNER = "@photostructure/sqlite";

/** SQLite itself is in the public domain; what makes it a module of Node has the licence of its package. */
function prebuiltSqlite(directory: string): Component {
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { versions: { sqlite: string } };
  const machines = readdirSync(join(directory, "prebuilds")).filter((name) => name.startsWith("linux-"));
  const files = machines.flatMap((name) => readdirSync(join(directory, "prebuilds", name)).map((file) => `prebuilds/${name}/${file}`));
  const sums = files.sort().map((file) => sha256(join(directory, file)).value);
  return {
    name: "sqlite",
    version: manifest.versions.sqlite,
    license: "blessing",
    copyright: "NONE",
    originator: "Organization: the SQLite project",
    purl: `pkg:generic/sqlite@${manifest.versions.sqlite}`,
    file: files.join(" "),
    checksum: { algorithm: "SHA256", value: createHash("sha256").update(sums.join("\n")).digest("hex") },
    text: join(directory, "LICENSE"),
    how: "CONTAINS",
    parts: files.map((file) => join(directory, file)),
  };
}

function bundled(directory: string, locked: LockEntry | undefined): Facts {
  if (locked === undefined) throw new Error(`sbom: ${directory} is not in package-lock.json`);
  const name = directory.replace(/^.*node_modules\//, "");
  const texts = readdirSync(directory).filter((file) => /^licen[cs]e/i.test(file));
  const text = texts.map((file) => join(directory, file));
  const copyright = text.map((file) => /^Copyright.*$/m.exec(readFileSync(file, "utf8"))?.[0]).find((line) => line !== undefined);
  return {
    name,
    version: locked.version,
    license: locked.license,
    copyright: copyright ?? "NOASSERTION",
    originator: "NOASSERTION",
    purl: `pkg:npm/${name.replace("@", "%40")}@${locked.version}`,
    file: `${name.replace(/^.*\//, "")}-${locked.version}.tgz`,
    checksum: { algorithm: "SHA512", value: Buffer.from(locked.integrity.replace(/^sha512-/, ""), "base64").toString("hex") },
    texts: text,
  };
}

/** Of the source package that tools/debian-source.sh has fetched; of a library that the builder has given, only what the file shows. */
function fetchedSource(directory: string, archive: string): Pick<Facts, "version" | "purl" | "file" | "checksum"> {
  const work = join(directory, "work");
  const files = existsSync(work) ? readdirSync(work) : [];
  const control = files.find((file) => file.endsWith(".dsc"));
  const original = files.find((file) => /\.orig\.tar\.[a-z0-9]+$/.test(file));
  if (control === undefined || original === undefined) {
    return { version: undefined, purl: undefined, file: basename(archive), checksum: sha256(archive) };
  }
  const [, name, revision] = /^(.+)_(.+)\.dsc$/.exec(control)!;
  return {
    version: revision!.replace(/-[^-]+$/, ""),
    purl: `pkg:deb/debian/${name}@${revision}?arch=source`,
    file: original,
    checksum: sha256(join(work, original)),
  };
}

/** A library that the compiler brings along. */
function installed(files: readonly string[], main: RegExp): Pick<Facts, "version" | "purl" | "file" | "checksum"> {
  const file = files.find((path) => main.test(path)) ?? files[0]!;
  const owner = debianPackage(file);
  return {
    version: owner?.version,
    purl: owner && `pkg:deb/debian/${owner.name}@${owner.version}?arch=${owner.architecture}`,
    file: basename(file),
    checksum: sha256(file),
  };
}

function documents(name: RegExp): string[] {
  const directory = "/usr/share/doc";
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((entry) => name.test(entry))
    .map((entry) => join(directory, entry, "copyright"));
}

function sha256(file: string): Checksum {
  return { algorithm: "SHA256", value: createHash("sha256").update(readFileSync(file)).digest("hex") };
}

function complete({ texts, ...facts }: Facts): Omit<Component, "how" | "parts"> {
  const text = texts.find((file) => existsSync(file));
  if (text === undefined) throw new Error(`sbom: no licence text of ${facts.name} here (looked for ${texts.join(", ")})`);
  return { ...facts, text };
}
