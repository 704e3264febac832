/** The package, as `npm pack` makes it, in an empty project. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { isRoot, REPOSITORY, useExecutors } from "./support.ts";

const run = promisify(execFile);
const NAME = "@runt-project/runt";
/** Programs of strangers. The second one is compiled only: it asks a daemon. */
const PROGRAMS = ["stranger.ts", "stranger-client.ts"];
const { name, version, dependencies } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));
/** Of a scoped name (npm-pack(1)). */
const TARBALL = `${NAME.slice(1).replace("/", "-")}-${version}.tgz`;

describe.skipIf(!isRoot)("the npm package (needs root)", () => {
  const { directory, rootfs } = useExecutors();
  const project = join(directory, "project");
  const installed = join(project, "node_modules", NAME);
  // Nothing else finds a runt there: neither RUNT_BINARY nor PATH has one.
  const env = { PATH: "/usr/bin:/bin", TMPDIR: directory };

  beforeAll(async () => {
    const packed = join(directory, "packed");
    mkdirSync(packed);
    // What prepack builds is built already, and its copy is what is tested.
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", packed], { cwd: REPOSITORY });
    expect(readdirSync(packed)).toEqual([TARBALL]);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", version: "1.0.0", type: "module" }));
    const install = () => run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(packed, TARBALL)], { cwd: project });
    await install().catch(async () => {
      // This machine's npm has no copies of what it needs: they are there as if installed before.
      copyPackages(project, Object.keys(dependencies));
      await install();
    });
  });

  test("installs without network in an empty project, has its own runt, and runs an example", async () => {
    expect(name).toBe(NAME);
    expect(readdirSync(installed).sort()).toEqual([
      ...["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "NOTICE", "README.md", "SECURITY.md"],
      ...["bin", "dist", "docs", "man", "package.json"],
    ]);
    expect(readdirSync(join(installed, "bin")).sort()).toEqual(["runt", "runt-pause", "runtctl"]);
    const where = `import { locateRuntime } from "${NAME}"; console.log(locateRuntime());`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", where], { cwd: project, env });
    expect(stdout.trim()).toBe(join(installed, "bin/runt"));
    const example = await run(process.execPath, [join(installed, "docs/library/run-with-limits.mjs"), rootfs()], { cwd: project, env });
    expect(example.stdout).toBe("killed for memory (137)\n");
  });

  test("every relative link of every page in it leads to a file in it", () => {
    const pages = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"));
    expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/library/README.md", "docs/executor-behaviour.md"]));
    const links = pages.flatMap((page) => linksOf(readFileSync(join(installed, page), "utf8")).map((link) => ({ page, link })));
    expect(links.filter(({ page }) => page === "README.md").length).toBeGreaterThan(20);
    const dead = links.filter(({ page, link }) => !existsSync(join(installed, dirname(page), link)));
    expect(dead).toEqual([]);
  });

  test("its pages say its name, and the file that npm pack writes, as they are", () => {
    for (const page of ["README.md", "docs/library/README.md"]) {
      const text = readFileSync(join(installed, page), "utf8");
      expect(text).toContain(`\`${NAME}\``);
      expect(text).toContain(TARBALL);
      expect(text).not.toMatch(/npm (install|i) runt\b|npm package `runt`|from "runt"/);
    }
  });

  // The compiler of today, and the last one that is itself written in TypeScript.
  test.each(["typescript-7", "typescript"])(
    "a stranger's program passes tsc --strict of %s, its types included, and does what it says",
    async (compiler) => {
      copyPackages(project, ["@types/node"]);
      for (const name of PROGRAMS) cpSync(join(REPOSITORY, "test/library/programs", name), join(project, name));
      const page = readFileSync(join(installed, "docs/library/client.md"), "utf8");
      const examples = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text], index) => {
        writeFileSync(join(project, `example-${index}.ts`), text!);
        return `example-${index}.ts`;
      });
      expect(examples.length).toBeGreaterThan(4);
      const compilerOptions = {
        ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
        ...{ module: "nodenext", target: "es2022", lib: ["es2022", "esnext.disposable"], types: ["node"], outDir: "out" },
      };
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [...PROGRAMS, ...examples] }));
      const compiled = await run(process.execPath, [join(REPOSITORY, "node_modules", compiler, "bin/tsc"), "-p", "."], {
        cwd: project,
      }).catch((error) => error);
      expect(compiled.stdout).toBe("");
      const stateDir = join(directory, `strange-${compiler}`);
      const { stdout } = await run(process.execPath, [join(project, "out/stranger.js"), rootfs(), stateDir], {
        cwd: project,
        env,
        timeout: 60_000,
      });
      expect(JSON.parse(stdout)).toEqual([
        ...["through cat", "cat 0", "12 34", "aborted", "not-found", "127", "processes 1"],
        ...["stranger paused", "paused", "stranger running", "refused"],
      ]);
    },
  );
});

/** Relative links of a page, without what is code. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "").replace(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)|(?:src|href)="([^"]+)"/gm)].map(
    ([, inline, reference, html]) => inline ?? reference ?? html!,
  );
  return targets
    .map((target) => decodeURI(target.replace(/#.*$/, "")))
    .filter((target) => target !== "" && !/^[a-z][a-z+.-]*:/i.test(target));
}

/** Packages with what they need, from this repository's own. */
function copyPackages(project: string, names: readonly string[]): void {
  const pending = [...names];
  const seen = new Set<string>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const from = join(REPOSITORY, "node_modules", next);
    cpSync(from, join(project, "node_modules", next), { recursive: true });
    pending.push(...Object.keys(JSON.parse(readFileSync(join(from, "package.json"), "utf8")).dependencies ?? {}));
  }
}
