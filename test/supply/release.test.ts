/** What `make release` has written: complete, each format with the same files, for the machine that it names. */
import { execFileSync } from "node:child_process";
import { createHash, createPublicKey, generateKeyPairSync, verify as verifySignature } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Statement } from "../../tools/release/provenance.ts";
import { readElf } from "../support/elf.ts";
import { REPOSITORY } from "../support/programs.ts";

const RELEASE = join(REPOSITORY, "build/release");
const NAMES = existsSync(RELEASE) ? readdirSync(RELEASE).sort() : [];
const VERSION = /^runt-(.+)\.provenance\.json$/;
const version = NAMES.map((name) => VERSION.exec(name)?.[1]).find((one) => one !== undefined) ?? "";
const at = (name: string) => join(RELEASE, name);
const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
const output = (program: string, ...words: readonly string[]) => execFileSync(program, words, { encoding: "utf8", maxBuffer: 1 << 28 });

/** [uname -m, Debian's name, Node's name, e_machine] */
const MACHINES = [
  ["x86_64", "amd64", "x64", 62],
  ["aarch64", "arm64", "arm64", 183],
] as const;

describe.skipIf(NAMES.length === 0)("the release (make release)", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-release-"));
  const unpacked = (...words: readonly string[]) => {
    const target = mkdtempSync(join(directory, "tree-"));
    const [program, ...rest] = words;
    execFileSync(program!, rest, { cwd: target, stdio: ["ignore", "ignore", "inherit"] });
    return target;
  };
  const filesBelow = (tree: string) =>
    readdirSync(tree, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1))
      .sort();
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("has each package for both machines, and nothing else", () => {
    const npm = (JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")) as { version: string }).version;
    const ofMachine = MACHINES.flatMap(([machine, debian, node]) => [
      ...["runt", "runtd"].flatMap((name) => [
        `${name}_${version}_${debian}.deb`,
        `${name}-${version}-1.${machine}.rpm`,
        `${name}-${version}-linux-${machine}.spdx.json`,
        `${name}-${version}-linux-${machine}.cdx.json`,
      ]),
      `runt-${version}-linux-${machine}.tar.gz`,
      `runt_${npm}_${machine}_relink.tar.gz`,
      `runt-project-runt-linux-${node}-${npm}.tgz`,
    ]);
    const wanted = [...ofMachine, `runt-project-runt-${npm}.tgz`, `runt-${version}.provenance.json`, "SHA256SUMS"];
    expect(NAMES.filter((name) => !/\.sig$|\.intoto\.jsonl$/.test(name))).toEqual(wanted.sort());
  });

  test("SHA256SUMS and the provenance have the sum of every file", () => {
    execFileSync("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], { cwd: RELEASE });
    const summed = readFileSync(at("SHA256SUMS"), "utf8").trim().split("\n");
    expect(summed.map((line) => line.slice(66))).toEqual(NAMES.filter((name) => !name.startsWith("SHA256SUMS")));
    const { subject, predicate } = JSON.parse(readFileSync(at(`runt-${version}.provenance.json`), "utf8")) as Statement;
    expect(subject.map(({ name, digest }) => [name, digest.sha256])).toEqual(
      NAMES.filter((name) => !/^SHA256SUMS|\.provenance\.json$|\.intoto\.jsonl$/.test(name)).map((name) => [name, sha256(at(name))]),
    );
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: REPOSITORY, encoding: "utf8" }).trim();
    expect(predicate.buildDefinition.externalParameters.source.digest).toEqual({ gitCommit: commit });
    const materials = predicate.buildDefinition.resolvedDependencies.map(({ uri }) => uri ?? "");
    for (const wanted of [
      "pkg:deb/debian/quickjs@",
      "pkg:deb/debian/libseccomp@",
      "pkg:npm/hono@",
      "pkg:deb/debian/gcc-aarch64-linux-gnu@",
    ])
      expect(materials).toContainEqual(expect.stringContaining(wanted));
  });

  test.each(MACHINES)("archive, deb, rpm and npm package for %s have the same programs, of that machine", (machine, debian, node, elf) => {
    const prefix = `runt-${version}-linux-${machine}`;
    const archive = join(unpacked("tar", "-xzf", at(`${prefix}.tar.gz`)), prefix);
    const program = (name: string) => join(archive, name);
    for (const name of ["bin/runt", "bin/runtctl", "libexec/runt/runt-pause"]) expect(readElf(program(name)).machine).toBe(elf);
    const modules = filesBelow(archive).filter((name) => name.endsWith(".node"));
    expect(modules.length).toBeGreaterThan(0);
    for (const name of modules) expect(name).toContain(`/prebuilds/linux-${node}/`);
    const deb = mkdtempSync(join(directory, "deb-"));
    const rpm = mkdtempSync(join(directory, "rpm-"));
    for (const name of ["runt", "runtd"]) {
      execFileSync("dpkg-deb", ["-x", at(`${name}_${version}_${debian}.deb`), deb]);
      execFileSync("sh", ["-c", 'rpm2archive - <"$0" | tar -xz', at(`${name}-${version}-1.${machine}.rpm`)], { cwd: rpm });
      expect(
        output("rpm", "-qp", "--nosignature", "--qf", "%{ARCH} %{VERSION} %{BUILDHOST}", at(`${name}-${version}-1.${machine}.rpm`)),
      ).toBe(`${machine} ${version} runt.invalid`);
    }
    for (const name of ["bin/runt", "bin/runtctl", "libexec/runt/runt-pause", ...modules])
      for (const tree of [deb, rpm]) expect(sha256(join(tree, "usr", name)), name).toBe(sha256(program(name)));
    const npm = unpacked("tar", "-xzf", at(NAMES.find((one) => one.startsWith(`runt-project-runt-linux-${node}-`))!));
    for (const name of ["runt", "runtctl", "runt-pause"])
      expect(sha256(join(npm, "package/bin", name)), name).toBe(
        sha256(program(name === "runt-pause" ? `libexec/runt/${name}` : `bin/${name}`)),
      );
    const common = (tree: string) => filesBelow(join(tree, "usr")).filter((name) => !/^share\/(doc|lintian|zsh)\//.test(name));
    expect(common(rpm)).toEqual(common(deb));
  });

  test.each(MACHINES)("the relink kit for %s makes the program of the package again", (machine) => {
    const name = NAMES.find((one) => one.endsWith(`_${machine}_relink.tar.gz`))!;
    const kit = join(unpacked("tar", "-xzf", at(name)), name.replace(".tar.gz", ""));
    const toolchain = join(REPOSITORY, "build/arm64/build/toolchain");
    const isOther = machine !== "x86_64";
    // The compiler for the other machine goes by its place in the tree that it was made for (tools/cross-tree.sh).
    if (isOther) execFileSync("ln", ["-s", toolchain, join(kit, "build/toolchain")]);
    const other = { CC: join(toolchain, "musl-gcc"), OBJCOPY: "aarch64-linux-gnu-objcopy", EMULATOR: "qemu-aarch64-static" };
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", ...(isOther ? other : {}) };
    execFileSync("./relink.sh", [], { cwd: kit, env, stdio: ["ignore", "ignore", "inherit"] });
    const prefix = `runt-${version}-linux-${machine}`;
    const archive = unpacked("tar", "-xzf", at(`${prefix}.tar.gz`), `${prefix}/bin/runt`);
    expect(sha256(join(kit, "runt"))).toBe(sha256(join(archive, prefix, "bin/runt")));
  });

  test("the programs in the archive run where they are unpacked", () => {
    const prefix = `runt-${version}-linux-x86_64`;
    const archive = join(unpacked("tar", "-xzf", at(`${prefix}.tar.gz`)), prefix);
    expect(output(join(archive, "bin/runt"), "--version")).toMatch(/^runt version /);
    expect(output(join(archive, "bin/runtd"), "--help")).toMatch(/^Usage: runtd /);
  });

  describe("with a key", () => {
    const signed = join(directory, "signed");
    const run = (key: string) =>
      execFileSync("node_modules/.bin/tsx", ["tools/release.ts", signed, version, "c".repeat(40)], {
        cwd: REPOSITORY,
        encoding: "utf8",
        env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000", RUNT_SIGNING_KEY: key },
        stdio: ["ignore", "pipe", "pipe"],
      });
    beforeAll(() => {
      mkdirSync(signed);
      for (const name of NAMES.filter((one) => one.endsWith(".spdx.json"))) cpSync(at(name), join(signed, name));
      const { privateKey, publicKey } = generateKeyPairSync("ed25519");
      writeFileSync(join(directory, "key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
      writeFileSync(join(directory, "key.pub"), publicKey.export({ type: "spki", format: "pem" }));
    });

    test("the sums are signed, and openssl verifies it", () => {
      run(join(directory, "key.pem"));
      const verify = () =>
        output(
          ...["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", join(directory, "key.pub")],
          ...["-rawin", "-in", join(signed, "SHA256SUMS"), "-sigfile", join(signed, "SHA256SUMS.sig")],
        );
      expect(verify()).toContain("Signature Verified Successfully");
      expect(existsSync(join(signed, `runt-${version}.intoto.jsonl`))).toBe(true);
      const statement = readFileSync(join(signed, `runt-${version}.provenance.json`));
      const { payload, signatures } = JSON.parse(readFileSync(join(signed, `runt-${version}.intoto.jsonl`), "utf8"));
      expect(Buffer.from(payload, "base64").equals(statement)).toBe(true);
      // DSSE: what is signed is the type and the payload, each after its length.
      const type = "application/vnd.in-toto+json";
      const message = Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${statement.length} `), statement]);
      const key = createPublicKey(readFileSync(join(directory, "key.pub")));
      expect(verifySignature(null, message, key, Buffer.from(signatures[0].sig, "base64"))).toBe(true);
      writeFileSync(join(signed, "SHA256SUMS"), "other\n");
      expect(verify).toThrow();
    });

    test("a name that leads to no key is an error", () => {
      expect(() => run(join(directory, "none.pem"))).toThrow(/RUNT_SIGNING_KEY: there is no file/);
    });
  });
});
