/** The bill of materials says what is in the program: all of it and nothing else. Its sources are read here in another way than in tools/sbom. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { spdxFaults } from "../../tools/sbom/check.ts";
import { linkedComponents } from "../../tools/sbom/component.ts";
import type { SpdxDocument } from "../../tools/sbom/spdx.ts";
import { isRunt } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const at = (path: string) => join(REPOSITORY, path);
/** When, in ms; 0: it is not there. */
const changed = (path: string) => statSync(at(path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const read = (path: string) => readFileSync(at(path), "utf8");

interface Editable {
  creationInfo?: object;
  packages: object[];
  relationships: object[];
}

/** The component that a file of the linker belongs to. */
const OWNERS: readonly (readonly [RegExp, string])[] = [
  [/^build\/(program|host|twins|init|shared)\/[\w-]+\.o$|^build\/embed\.o$/, "runt"],
  [/libquickjs\.a$/, "quickjs"],
  [/libseccomp\.a$/, "libseccomp"],
  [/musl\/(lib[cm]\.a|S?crt[1in]\.o)$/, "musl"],
  [/(libgcc(_eh)?\.a|crt(begin|end)[ST]?\.o)$/, "libgcc"],
];

/** Object files that the program was linked from, and archives of which it took a member. */
function filesInMap(map: string): string[] {
  const members = map.slice(0, map.indexOf("Discarded input sections")).match(/^\S+\.a(?=\(\S+\.l?o\))/gm) ?? [];
  const objects = [...map.matchAll(/^LOAD (\S+\.o)$/gm)].map(([, file]) => file!);
  return [...new Set([...members, ...objects])];
}

/** Name and licence of each. */
function componentsIn(text: string): [name: string, license: string][] {
  return text.split(/\n(?=\S)/).flatMap((part): [string, string][] => {
    const license = /^ {4}Licence: (.+)$/m.exec(part)?.[1];
    return license === undefined ? [] : [[part.split("\n")[0]!, license]];
  });
}

describe.skipIf(!isRunt || !existsSync(at("build/runt.map")))("the bill of materials", () => {
  let document: SpdxDocument;
  beforeAll(async () => {
    if (changed("build/runt.spdx.json") < changed("bin/runt")) await execa("node_modules/.bin/tsx", ["tools/sbom.ts"], { cwd: REPOSITORY });
    document = JSON.parse(read("build/runt.spdx.json")) as SpdxDocument;
  });

  /** Package of npm -> licence, of those that are in the files of runtd. */
  const inDaemon = () =>
    new Map([...read("dist/runtd/LICENSE.txt").matchAll(/^(\S+) \S+\nLicence: (.+)$/gm)].map(([, name, licence]) => [name!, licence!]));
  const names = () => document.packages.map(({ name }) => name).sort();

  test("is of this program", () => {
    const sum = createHash("sha256")
      .update(readFileSync(at("bin/runt")))
      .digest("hex");
    expect(document.files.map(({ checksums }) => checksums.find(({ algorithm }) => algorithm === "SHA256")?.checksumValue)).toEqual([sum]);
  });

  test("has every library that is linked and every package that is bundled, and nothing else", () => {
    const owners = filesInMap(read("build/runt.map") + read("build/runt-init.map")).map(
      (file) => OWNERS.find(([files]) => files.test(file))?.[1] ?? `stranger: ${file}`,
    );
    const inputs = read("build/bundle-inputs.txt");
    const bundled = readdirSync(at("node_modules")).filter((name) => inputs.includes(`node_modules/${name}/`));
    expect(names()).toEqual([...new Set(["runt", ...owners, ...bundled])].sort());
  });

  test("names the members: what they define is in the program", async () => {
    const [quickjs, musl] = ["quickjs", "musl"].map(
      (name) => document.packages.find((entry) => entry.name === name)?.comment?.split(" ") ?? [],
    );
    expect(quickjs).toEqual(expect.arrayContaining(["quickjs.o", "libregexp.o", "cutils.o"]));
    const symbols = (await execa("nm", [at("build/runt-image-writer")])).stdout;
    expect(symbols.includes(" T JS_NewContextRaw\n")).toBe(true);
    expect(musl!.includes("memfd_create.lo")).toBe(/ [TW] memfd_create\n/.test(symbols));
  });

  test("that of runtd has its packages of npm and SQLite, and both have the same content in CycloneDX", () => {
    const names = [...inDaemon().keys(), "@photostructure/sqlite", "node-gyp-build"];
    for (const name of ["runt", "runtd"]) {
      const { packages: inSpdx } = JSON.parse(read(`build/${name}.spdx.json`)) as SpdxDocument;
      const cyclone = JSON.parse(read(`build/${name}.cdx.json`)) as { components: { name: string }[] };
      expect(cyclone.components.map((one) => one.name)).toEqual(inSpdx.map((one) => one.name).filter((one) => one !== name));
      if (name === "runtd") expect(inSpdx.map((one) => one.name)).toEqual(expect.arrayContaining([...names, "sqlite", "quickjs"]));
    }
  });

  test("is SPDX 2.3", () => {
    expect(spdxFaults(document)).toEqual([]);
    const faults = (change: (copy: Editable) => void) => {
      const copy = JSON.parse(JSON.stringify(document)) as Editable;
      change(copy);
      return spdxFaults(copy);
    };
    expect(faults((copy) => void delete copy.creationInfo)).not.toEqual([]);
    expect(faults((copy) => void Object.assign(copy.packages[1]!, { SPDXID: "quickjs" }))).not.toEqual([]);
    expect(faults((copy) => void Object.assign(copy.packages[1]!, { licenseDeclared: "MIT or so" }))).not.toEqual([]);
    expect(faults((copy) => void Object.assign(copy.relationships[0]!, { relatedSpdxElement: "SPDXRef-none" }))).not.toEqual([]);
  });

  // The public schema is no part of this repository: SPDX_SCHEMA=spdx-schema.json, of draft 7.
  test.skipIf(!process.env["SPDX_SCHEMA"])("is what the public JSON schema wants", () => {
    const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(process.env["SPDX_SCHEMA"]!, "utf8")));
    expect(validate(document) || validate.errors).toBe(true);
  });

  test("NOTICE has the same components with the same licences, and their texts are there", () => {
    // Behind those of bin/runt it has what only bin/runtctl contains, and then what is installed beside runtd.
    const [ofBoth, ofClient, ofDaemon] = read("NOTICE")
      .split(/\nNothing else is in it|\nBeside these files an installation/)
      .map(componentsIn);
    const wanted = document.packages.filter(({ name }) => name !== "runt").map(({ name, licenseDeclared }) => [name, licenseDeclared]);
    expect(ofBoth!.sort()).toEqual(wanted.sort());
    const names = [...ofBoth!, ...ofClient!].map(([name]) => `${name}.txt`);
    expect(readdirSync(at("build/third-party")).sort()).toEqual(names.sort());
    const daemon = JSON.parse(read("build/runtd.spdx.json")) as SpdxDocument;
    const named = new Map([...ofBoth!, ...ofClient!, ...inDaemon(), ...ofDaemon!]);
    const needed = daemon.packages.filter(({ name }) => name !== "runtd");
    expect(needed.map(({ name, licenseDeclared }) => [name, licenseDeclared])).toEqual(needed.map(({ name }) => [name, named.get(name)]));
    expect(ofDaemon!.filter(([name]) => !needed.some((one) => one.name === name))).toEqual([]);
  });

  test("a library that nobody has written down stops the build", () => {
    expect(() => linkedComponents(at("build"), [{ file: "/usr/lib/libevil.a", members: ["evil.o"] }])).toThrow(
      "whose is /usr/lib/libevil.a?",
    );
  });

  test("is the same when made again, but for the time, which is the commit's or SOURCE_DATE_EPOCH", async () => {
    const files = ["runt", "runtd"].flatMap((name) => [`build/${name}.spdx.json`, `build/${name}.cdx.json`]);
    const before = files.map(read);
    const time = String(Date.parse(document.creationInfo.created) / 1000);
    await execa("node_modules/.bin/tsx", ["tools/sbom.ts"], { cwd: REPOSITORY, env: { SOURCE_DATE_EPOCH: time, TZ: "Asia/Tokyo" } });
    expect(files.map(read)).toEqual(before);
  });
});
