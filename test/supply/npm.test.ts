/** The packages that are published (`make npm`), from a registry on this machine, in an empty project. */
import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readElf } from "../support/elf.ts";
import { REPOSITORY } from "../support/programs.ts";

const run = promisify(execFile);
const STAGED = join(REPOSITORY, "build/npm");
const MAIN = "@runt-project/runt";
const HERE = `${MAIN}-linux-${process.arch}`;
/** e_machine of ELF files. */
const MACHINES: Readonly<Record<string, number>> = { arm64: 183, x64: 62 };

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

const manifestOf = (directory: string) => JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;
const packages = existsSync(STAGED) ? readdirSync(STAGED).map((name) => join(STAGED, name)) : [];

interface Published {
  readonly manifest: Manifest;
  /** The tarball. */
  readonly content: () => Buffer;
}

/** What runt depends on, as it is installed in this repository. */
function ofRepository(name: string): Published | undefined {
  const directory = join(REPOSITORY, "node_modules", name);
  if (!existsSync(join(directory, "package.json"))) return undefined;
  const words = ["-C", directory, "--exclude=./node_modules", "--transform=s,^\\.,package,", "-czf", "-", "."];
  return { manifest: manifestOf(directory), content: () => execFileSync("tar", words, { maxBuffer: 1 << 28 }) };
}

interface Failed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe.skipIf(packages.length === 0)("the npm packages (make npm)", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-npm-"));
  const project = join(directory, "project");
  const inProject = (name: string) => join(project, "node_modules", name);
  const env = { ...process.env, TMPDIR: directory, npm_config_cache: join(directory, "cache"), npm_config_update_notifier: "false" };
  let server: Server;
  let registry = "";
  const npm = (...words: string[]) => run("npm", [`--registry=${registry}`, "--no-audit", "--no-fund", ...words], { cwd: project, env });
  const tarballs = new Map<string, Published>();
  const published = (name: string) => tarballs.get(name) ?? ofRepository(name);

  beforeAll(async () => {
    const packed = join(directory, "packed");
    mkdirSync(packed);
    for (const staged of packages) {
      const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", packed], { cwd: staged, env });
      const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
      tarballs.set(manifestOf(staged).name, { manifest: manifestOf(staged), content: () => readFileSync(join(packed, filename)) });
    }
    server = createServer(({ url }, answer) => {
      const name = decodeURIComponent((url ?? "/").slice(1));
      const found = published(name.replace(/\.tgz$/, ""));
      if (found === undefined) return void answer.writeHead(404).end("{}");
      if (name.endsWith(".tgz")) return void answer.end(found.content());
      const { manifest } = found;
      const version = { ...manifest, dist: { tarball: `${registry}${manifest.name}.tgz` } };
      answer.end(JSON.stringify({ name, "dist-tags": { latest: manifest.version }, versions: { [manifest.version]: version } }));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", version: "1.0.0" }));
    await npm("install", MAIN);
  });
  afterAll(async () => {
    await new Promise((done) => server.close(done));
    rmSync(directory, { recursive: true, force: true });
  });

  test("npm installs the package of this machine with it, and of no other", () => {
    const installed = readdirSync(join(project, "node_modules/@runt-project"));
    expect(installed.sort()).toEqual(["runt", `runt-linux-${process.arch}`]);
    expect(manifestOf(inProject(MAIN)).optionalDependencies).toEqual({
      [`${MAIN}-linux-x64`]: manifestOf(inProject(MAIN)).version,
      [`${MAIN}-linux-arm64`]: manifestOf(inProject(MAIN)).version,
    });
  });

  test("each has programs of its machine only, what is in them, and what relinks them", () => {
    expect(packages.length).toBeGreaterThan(1);
    for (const staged of packages) {
      const architecture = /-linux-(.+)$/.exec(manifestOf(staged).name)?.[1];
      if (architecture === undefined) continue;
      for (const program of ["runt", "runtctl", "runt-pause"]) {
        expect(readElf(join(staged, "bin", program)).machine).toBe(MACHINES[architecture]);
        expect(statSync(join(staged, "bin", program)).mode & 0o777).toBe(0o755);
      }
      for (const file of ["LICENSE", "NOTICE", "README.md", "relink.tar.gz", "runt.spdx.json", "third-party/libseccomp.txt"])
        expect(existsSync(join(staged, file)), file).toBe(true);
    }
  });

  test.each(["x64", "arm64"])("the relink kit in the package for %s makes its program again", async (architecture) => {
    const staged = join(STAGED, `runt-linux-${architecture}`);
    const place = mkdtempSync(join(directory, "relink-"));
    await run("tar", ["-xzf", join(staged, "relink.tar.gz"), "-C", place, "--strip-components=1"]);
    const toolchain = join(REPOSITORY, "build/arm64/build/toolchain");
    // The compiler for the other machine goes by its place in the tree that it was made for (tools/cross-tree.sh).
    if (architecture !== process.arch) symlinkSync(toolchain, join(place, "build/toolchain"));
    const other = { CC: join(toolchain, "musl-gcc"), OBJCOPY: "aarch64-linux-gnu-objcopy", EMULATOR: "qemu-aarch64-static" };
    const variables = architecture === process.arch ? {} : other;
    await run("./relink.sh", [], { cwd: place, env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", ...variables } });
    expect(readFileSync(join(place, "runt")).equals(readFileSync(join(staged, "bin/runt")))).toBe(true);
  });

  test("npx runs runt as anyone, and ends as it does", async () => {
    const bundle = join(directory, "bundle");
    mkdirSync(join(bundle, "rootfs"), { recursive: true });
    await npm("exec", "--offline", "--", "runt", "spec", "--bundle", bundle);
    const asAnyone = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    for (const path of [directory, bundle, join(bundle, "rootfs")]) await run("chmod", ["755", path]);
    // Not found in the root file system: an error of validate, so the status is 1.
    const words = ["--offline", MAIN, "validate", bundle];
    const own = { ...env, HOME: "/nonexistent", npm_config_cache: mkdtempSync("/tmp/runt-npx-"), npm_config_logs_max: "0" };
    if (process.geteuid?.() === 0) await run("chown", ["65534", own.npm_config_cache]);
    const failed = (await run("npx", words, { cwd: project, env: own, ...asAnyone }).catch((error) => error)) as Failed;
    rmSync(own.npm_config_cache, { recursive: true, force: true });
    expect({ code: failed.code, said: failed.stdout }).toMatchObject({ code: 1, said: expect.stringContaining("error[program-missing]") });
    const { stdout } = await npm("exec", "--offline", "--", "runtctl", "--version");
    expect(stdout.trim()).toBe(manifestOf(inProject(MAIN)).version);
  });

  test("the libraries find the program, from ES modules and from require", async () => {
    const node = (...words: string[]) => run(process.execPath, words, { cwd: project, env: { PATH: "/usr/bin:/bin" } });
    const expected = join(inProject(HERE), "bin/runt");
    const script = `import { locateRuntime } from "${MAIN}"; console.log(locateRuntime());`;
    expect((await node("--input-type=module", "-e", script)).stdout.trim()).toBe(expected);
    const imported = `import("${MAIN}").then(({ locateRuntime }) => console.log(locateRuntime()));`;
    expect((await node("-e", imported)).stdout.trim()).toBe(expected);
    if ((process.features as { require_module?: boolean }).require_module !== true) return;
    const required = `console.log(require("${MAIN}").locateRuntime()); require("${MAIN}/engine");`;
    expect((await node("-e", required)).stdout.trim()).toBe(expected);
  });

  const IMPORTS = `import { Executor, type CommandLaunch } from "${MAIN}"; import { TaskEngine } from "${MAIN}/engine";`;
  /** File, its module system, and what the compiler is told: how TypeScript finds and reads types is another thing in each. */
  const USERS = [
    ["an ES module", "user.mts", "nodenext"],
    ["an ES module of Node 16", "user.mts", "node16"],
    ["CommonJS with require", "user.cts", "nodenext"],
    ["a bundler", "user.ts", "bundler"],
    ["CommonJS before exports", "user.ts", "node10"],
  ] as const;
  const OPTIONS = {
    nodenext: { module: "nodenext" },
    node16: { module: "node16" },
    bundler: { module: "esnext", moduleResolution: "bundler" },
    // The types of zod have default imports of CommonJS modules; `tsc --init` sets this option, too.
    node10: { module: "commonjs", moduleResolution: "node10", esModuleInterop: true },
  } as const;

  test.each(USERS)("the types are found by %s", async (_, file, kind) => {
    copyPackages(project, ["@types/node"]);
    const place = mkdtempSync(join(project, "types-"));
    // An `any` would take this line, too: types that are not found are an error by themselves.
    const use = `const wrong: CommandLaunch = { rootfs: 1 }; console.log(Executor, TaskEngine, wrong);`;
    writeFileSync(join(place, file), `${IMPORTS}\n${use}\n`);
    // No types, as TypeScript 7 has it by default, and no lib: the package itself names what it needs. The types of all packages are checked.
    const compilerOptions = { ...OPTIONS[kind], strict: true, noEmit: true, target: "es2022", types: [], skipLibCheck: false };
    writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
    const { stdout } = (await run(process.execPath, [join(REPOSITORY, "node_modules/typescript/bin/tsc"), "-p", place], {
      cwd: project,
    }).catch((error) => error)) as Failed;
    const faults = stdout.split("\n").filter((line) => /error TS/.test(line));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain("TS2322");
  });

  test.each(packages)("npm publish --dry-run takes %s", async (staged) => {
    const { stdout } = await run("npm", ["publish", "--dry-run", "--json", `--registry=${registry}none-yet/`], {
      cwd: staged,
      env: { ...env, npm_config_userconfig: "/dev/null" },
    });
    expect(stdout).toContain(manifestOf(staged).version);
  });
});

/** Packages with what they need, from this repository's own. */
function copyPackages(project: string, names: readonly string[]): void {
  const pending = [...names];
  const seen = new Set<string>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const from = join(REPOSITORY, "node_modules", next);
    cpSync(from, join(project, "node_modules", next), { recursive: true });
    pending.push(...Object.keys((JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as Manifest).dependencies ?? {}));
  }
}
