/**
 * esbuild plugin: `import { a } from "../cgroup/index.ts"` becomes an import from the file that defines `a`, and so does an export.
 *
 * esbuild puts whole files into chunks: through an index every verb would load everything that any verb uses from it.
 *
 * But for the test build it also puts `false` in the place of every `weakened("NAME")` and `disabled("NAME")` (src/runtime/host/testing.ts).
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Plugin } from "esbuild";

const THROUGH_INDEX = /^(import|export)\s*\{([^}]*)\}\s*from\s*"(\.[^"]*index\.ts)";/gm;
const REEXPORT = /^export\s*\{([^}]*)\}\s*from\s*"(\.[^"]+)";/gm;

export function seeThroughIndexes({ testing }: { readonly testing: boolean }): Plugin {
  return {
    name: "see-through-indexes",
    setup(build) {
      const cache = new Map<string, ReadonlyMap<string, string>>();
      const origins = (index: string): ReadonlyMap<string, string> => {
        const known = cache.get(index) ?? readOrigins(index);
        cache.set(index, known);
        return known;
      };
      build.onLoad({ filter: /\/(src|test)\/.*\.ts$/ }, ({ path }) => ({
        loader: "ts",
        contents: defended(withoutDocs(path, readFileSync(path, "utf8")), testing).replace(
          THROUGH_INDEX,
          (statement, keyword: string, names: string, target: string) => {
            const index = resolve(dirname(path), target);
            return existsSync(index) ? rewrite(keyword, names, path, index, origins(index)) : statement;
          },
        ),
      }));
    },
  };
}

const TESTING = /\b(?:weakened|disabled)\("[^"]*"\)/g;

function defended(text: string, testing: boolean): string {
  return testing ? text : text.replace(TESTING, "false");
}

/** Doc strings and actors of operations are left out: only people and the compiler read them. They would be a tenth of the bytecode of every verb that has a plan. */
function withoutDocs(path: string, text: string): string {
  return path.includes("/src/shared/protocol/operations/") ? text.replace(/\b(?:doc: "(?:[^"\\]|\\.)*"|actors: \[[^\]]*\]),?/g, "") : text;
}

/** Name -> absolute path of the file behind the index. */
function readOrigins(index: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, names = "", target = ""] of readFileSync(index, "utf8").matchAll(REEXPORT))
    for (const name of specifiers(names)) if (!name.includes(" ")) found.set(name, resolve(dirname(index), target));
  return found;
}

function rewrite(keyword: string, names: string, importer: string, index: string, origins: ReadonlyMap<string, string>): string {
  return specifiers(names)
    .filter((specifier) => !specifier.startsWith("type "))
    .map((specifier) => {
      const origin = origins.get(specifier.split(" ")[0] ?? "") ?? index;
      const path = relative(dirname(importer), origin);
      return `${keyword} { ${specifier} } from "${path.startsWith(".") ? path : `./${path}`}";`;
    })
    .join("");
}

function specifiers(names: string): string[] {
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
