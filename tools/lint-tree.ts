/**
 * What may be committed: no file at the root that is not listed here, no large file that is no fixture, no long source file that is no table, no
 * path of somebody's machine, and no unit test that replaces modules under a name with which it would share them with others (vitest.config.ts).
 * Looks at the files git tracks, with their content in the working tree.
 *
 * Usage: tsx tools/lint-tree.ts
 */
import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Names directly below the root. */
const ROOT_FILES: ReadonlySet<string> = new Set([
  ".dependency-cruiser.cjs",
  ".gitignore",
  ".npmrc",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "Makefile",
  "NOTICE",
  "README.md",
  "RELEASING.md",
  "SECURITY.md",
  "biome.json",
  "package-lock.json",
  "package.json",
  "tsconfig.json",
  "typedoc.json",
  "vitest.config.ts",
]);
const ROOT_FOLDERS: ReadonlySet<string> = new Set([
  ".ci",
  "bench",
  "bundles",
  "docs",
  "man",
  "native-bindings",
  "packaging",
  "site",
  "src",
  "test",
  "tools",
]);

export const LARGEST_BYTES = 64 * 1024;
/** Files that may be larger, each with its reason. */
const LARGE_FILES: Readonly<Record<string, string>> = {
  "docs/engine/pod-fields.md": "generated: every field of the documents of Kubernetes, with the reason why it is refused",
  "docs/conformance.md": "generated: one line for each requirement of the specification",
  "docs/findings.md": "generated: every finding with an example",
  "package-lock.json": "npm's",
  "site/package-lock.json": "npm's",
  "test/fuzz-init/corpus.pack": "fixture: the corpus of plans",
  "test/fuzz-init/host/corpus.pack": "fixture: the corpus of the host module",
};

/** Lines of a source file. One that is longer is divided by what it is about. */
export const LONGEST_LINES = 350;
const SOURCE = /\.(?:ts|c|h)$/;
/** Tables, which are read by the row. */
const LONG_TABLES: ReadonlySet<string> = new Set([
  "native-bindings/host/host.d.ts",
  // Generated, with the names of every route and every field.
  "src/client/models.ts",
  "src/client/operations.ts",
  "src/runtime/check/process/findings.ts",
  "src/runtime/plan/system-calls.ts",
  "test/mutants/engine/model.ts",
  "tools/lint-own/allowed.ts",
]);

/** Home directories, and places where build machines keep checkouts. Examples in documents use /home/me, /path/to and /tmp. */
const MACHINE_PATHS = /(?<![\w.$}"~-])\/(?:work\/(?:main|shared|\.)|workspace\/|builds\/|home\/(?!me\b|user\b)\w{2}|Users\/\w)[\w./-]*/;

/** vitest hoists these calls: they act on what every later test of the same worker imports. */
const REPLACES_MODULES = /^vi\.(?:mock|doMock)\(/m;
const SHARES_MODULES = /^(?:src|test\/unit|tools|bench|test\/guest)\/.*(?<!\.mocked)\.test\.ts$/;

export interface TreeFile {
  /** Relative to the root. */
  readonly path: string;
  readonly bytes: number;
  /** undefined: not text. */
  readonly text: string | undefined;
}

/** One line for each problem of a file. */
export function problemsOf(files: readonly TreeFile[]): string[] {
  return files.flatMap(({ path, bytes, text }) => {
    const slash = path.indexOf("/");
    const isKnown = slash < 0 ? ROOT_FILES.has(path) : ROOT_FOLDERS.has(path.slice(0, slash));
    const isLarge = bytes > LARGEST_BYTES && !Object.hasOwn(LARGE_FILES, path);
    const isShared = SHARES_MODULES.test(path) && REPLACES_MODULES.test(text ?? "");
    const lines = text?.split("\n") ?? [];
    const length = lengthOf(text);
    const isLong = SOURCE.test(path) && length > LONGEST_LINES && !LONG_TABLES.has(path);
    return [
      ...(isLong ? [`${path}: ${length} lines, more than ${LONGEST_LINES}, and no table (tools/lint-tree.ts)`] : []),
      ...(isShared ? [`${path}: replaces modules, and is not named .mocked.test.ts (vitest.config.ts)`] : []),
      ...(isKnown ? [] : [`${path}: not a name that is expected at the root (tools/lint-tree.ts)`]),
      ...(isLarge ? [`${path}: ${bytes} bytes, more than ${LARGEST_BYTES}, and no fixture (tools/lint-tree.ts)`] : []),
      ...lines.flatMap((line, index) => {
        const found = MACHINE_PATHS.exec(line)?.[0];
        return found === undefined ? [] : [`${path}:${index + 1}: ${found}: a path of one machine`];
      }),
    ];
  });
}

function lengthOf(text = ""): number {
  return text.split("\n").length - 1;
}

function trackedFiles(repository: string): TreeFile[] {
  const names = execFileSync("git", ["ls-files", "-z"], { cwd: repository, encoding: "utf8" }).split("\0").filter(Boolean);
  return names.flatMap((path) => {
    const found = lstatSync(join(repository, path), { throwIfNoEntry: false });
    if (!found?.isFile()) return [];
    const content = readFileSync(join(repository, path));
    return [{ path, bytes: found.size, text: content.includes(0) ? undefined : content.toString("utf8") }];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = trackedFiles(fileURLToPath(new URL("..", import.meta.url)));
  const problems = problemsOf(files);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
