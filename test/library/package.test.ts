/** The package, as `npm pack` makes it, in an empty project. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { isRoot, REPOSITORY, useExecutors } from "./support.ts";

const run = promisify(execFile);

describe.skipIf(!isRoot)("the npm package (needs root)", () => {
  const { directory, rootfs } = useExecutors();

  test("installs without network in an empty project, has its types and its own runt, and runs an example", async () => {
    const packed = join(directory, "packed");
    mkdirSync(packed);
    // What prepack builds is built already, and its copy is what is tested.
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", packed], { cwd: REPOSITORY });
    const [tarball = ""] = readdirSync(packed);
    expect(tarball).toMatch(/^runt-\d+\.\d+\.\d+\.tgz$/);

    const project = join(directory, "project");
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", version: "1.0.0", type: "module" }));
    const install = () => run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(packed, tarball)], { cwd: project });
    await install().catch(async () => {
      // This machine's npm has no copy of execa: it is there as if installed before.
      copyDependencies(project);
      await install();
    });

    const installed = join(project, "node_modules/runt");
    expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "bin", "dist", "docs", "package.json"]);
    expect(existsSync(join(installed, "dist/executor/index.d.ts"))).toBe(true);
    // Nothing else finds a runt there: neither RUNT_BINARY nor PATH has one.
    const env = { PATH: "/usr/bin:/bin", TMPDIR: directory };
    const where = 'import { locateRuntime } from "runt"; console.log(locateRuntime());';
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", where], { cwd: project, env });
    expect(stdout.trim()).toBe(join(installed, "bin/runt"));
    const example = await run(process.execPath, [join(installed, "docs/library/run-with-limits.mjs"), rootfs()], { cwd: project, env });
    expect(example.stdout).toBe("killed for memory (137)\n");

    writeFileSync(
      join(project, "types.ts"),
      'import { Executor, type Stats } from "runt";\nconst stats: Promise<Stats> = new Executor({ stateDir: "/x", id: "y" }).stats();\n' +
        '// @ts-expect-error an executor has an id\nnew Executor({ stateDir: "/x" });\nexport { stats };\n',
    );
    // Without the types of Node, which the empty project does not have: those of the package itself are what is checked.
    const compilerOptions = { noEmit: true, strict: true, skipLibCheck: true, module: "nodenext", target: "es2022", types: [] };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["types.ts"] }));
    await run(join(REPOSITORY, "node_modules/.bin/tsc"), ["-p", "."], { cwd: project });
  }, 120_000);
});

/** execa with what it needs, from this repository's own. */
function copyDependencies(project: string): void {
  const pending = ["execa"];
  const seen = new Set<string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const from = join(REPOSITORY, "node_modules", name);
    cpSync(from, join(project, "node_modules", name), { recursive: true });
    pending.push(...Object.keys(JSON.parse(readFileSync(join(from, "package.json"), "utf8")).dependencies ?? {}));
  }
}
