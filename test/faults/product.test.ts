/** The product has nothing of the test build, and is the same to the byte as it would be without the places where that acts. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";

const NAMES = ["RUNT_DISABLE_DEFENCES", "RUNT_DISABLE", "RUNT_FAULT", "DISABLED_DEFENCES", "defenceDisabled"];
const ROOMS = ["init", "shared", "host", "twins", "program"].map((room) => `native-bindings/${room}`);

/** A C source with every macro of native-bindings/testing taken out by hand. */
function withoutPlaces(text: string): string {
  return text
    .replace(/^#include "\.\.\/testing\/.*\n/gm, "")
    .replace(/\bDEFENCE_DISABLED\(\w+\)/g, "0")
    .replace(/\bLAST_DESCRIPTOR\b/g, "UINT32_MAX")
    .replace(/\b(?:WITH_POINTS|HOST_TESTING_ENVIRONMENT)\((\w+)\)/g, "$1")
    .replace(/\bPOINT_(OPERATION|MESSAGE)\([^()]*\)/g, "0L")
    .replace(/\b(POINT|(HOST_)?TESTING_\w+)\(.*\);$/gm, "(void)0;");
}

/** Returns the names of the sources that had something to be taken out. */
function copyWithoutPlaces(folder: string, target: string): string[] {
  mkdirSync(join(target, folder), { recursive: true });
  return readdirSync(join(REPOSITORY, folder)).filter((name) => {
    const text = readFileSync(join(REPOSITORY, folder, name), "utf8");
    const without = withoutPlaces(text);
    writeFileSync(join(target, folder, name), without);
    return without !== text;
  });
}

describe("the product", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-product-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test.each(["bin/runt", "build/runt-init"])("%s has none of the names", (file) => {
    const bytes = readFileSync(join(REPOSITORY, file));
    expect(NAMES.filter((name) => bytes.includes(name))).toEqual([]);
  });

  test("the test build has them", () => {
    const bytes = readFileSync(join(REPOSITORY, "build/testing/runt"));
    expect(NAMES.filter((name) => bytes.includes(name))).toEqual(NAMES);
  });

  test.each([
    ["native-bindings/init", "$(INIT_CC) $(INIT_CFLAGS)", "main.c"],
    ["native-bindings/shared", "$(INIT_CC) $(INIT_CFLAGS)", "inroot.c"],
    ["native-bindings/host", "$(CC) $(HOST_CFLAGS)", "spawn.c"],
    ["native-bindings/program", "$(CC) $(HOST_CFLAGS)", "module.c"],
  ])("the objects of %s are the same to the byte", (folder, command, known) => {
    for (const room of ROOMS) if (room !== folder) copyWithoutPlaces(room, directory);
    const places = copyWithoutPlaces(folder, directory).filter((name) => name.endsWith(".c"));
    expect(places).toContain(known);
    const show = ["-s", "--no-print-directory", "--eval", `show: ; @echo ${command}`, "show"];
    const [compiler = "", ...flags] = execFileSync("make", show, { cwd: REPOSITORY, encoding: "utf8" }).trim().split(/\s+/);
    const compile = (root: string, name: string): Buffer => {
      const object = join(directory, basename(name, ".c"));
      execFileSync(compiler, [...flags, "-c", join(root, folder, name), "-o", object], { cwd: REPOSITORY });
      return readFileSync(object);
    };
    const different = places.filter((name) => !compile(REPOSITORY, name).equals(compile(directory, name)));
    expect(different).toEqual([]);
  });

  test("every defence has a guard, and every guard a name in the list", () => {
    const list = readFileSync(join(REPOSITORY, "native-bindings/testing/defences.h"), "utf8");
    const declared = [...list.matchAll(/^ {2}X\((\w+), "([^"]+)"\)/gm)].map(([, identifier, name]) => ({ identifier, name }));
    const sources = ["src", ...ROOMS].flatMap((folder) =>
      readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(c|h|ts)$/.test(name) && name !== "runtime/testing/index.ts" && !name.endsWith(".test.ts"))
        .map((name) => readFileSync(join(REPOSITORY, folder, name), "utf8")),
    );
    const guards = sources.flatMap((text) => [...text.matchAll(/\bDEFENCE_DISABLED\((\w+)\)|\bdefenceDisabled\("([^"]+)"\)/g)]);
    const isGuarded = ({ identifier, name }: (typeof declared)[number]) => guards.some(([, c, ts]) => c === identifier || ts === name);
    const isDeclared = (guard: RegExpMatchArray) => declared.some(({ identifier, name }) => guard[1] === identifier || guard[2] === name);
    expect(declared.filter((one) => !isGuarded(one)).map(({ name }) => name)).toEqual([]);
    expect(guards.filter((guard) => !isDeclared(guard)).map(([text]) => text)).toEqual([]);
  });
});
