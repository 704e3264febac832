/**
 * esbuild plugin: `import { a } from "../cgroup/index.ts"` becomes an import from the file that defines `a`, through as many indexes as
 * name it, and so does an export. `import * as host from "../host/index.ts"` has what the one `export *` of the index names, and nothing else.
 *
 * esbuild puts whole files into chunks: through an index every verb would load everything that any verb uses from it.
 *
 * But for the test build it also puts `false` in the place of every `defenceDisabled("NAME")` and `disabled("NAME")` (src/runtime/testing/index.ts).
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Plugin } from "esbuild";

const THROUGH_INDEX = /^(import|export)\s*\{([^}]*)\}\s*from\s*"(\.[^"]*index\.ts)";/gm;
const NAMESPACE_IMPORT = /^import\s*\*\s*as\s+(\w+)\s+from\s*"(\.[^"]*index\.ts)";/gm;
const REEXPORT = /^export\s*\{([^}]*)\}\s*from\s*"(\.[^"]+)";/gm;
const REEXPORT_ALL = /^export\s*\*\s*from\s*"(\.[^"]+)";/gm;

/** Where the names of an index are defined: absolute paths. */
interface Origins {
  readonly named: ReadonlyMap<string, string>;
  /** The file that has all other names. */
  readonly rest: string;
}
type OriginsOf = (index: string) => Origins;

export function seeThroughIndexes({ testing }: { readonly testing: boolean }): Plugin {
  return {
    name: "see-through-indexes",
    setup(build) {
      const cache = new Map<string, Origins>();
      const origins: OriginsOf = (index) => {
        const known = cache.get(index) ?? readOrigins(index);
        cache.set(index, known);
        return known;
      };
      build.onLoad({ filter: /\/(src|test)\/.*\.ts$/ }, ({ path }) => ({
        loader: "ts",
        contents: pastIndexes(defended(withoutDocs(path, readFileSync(path, "utf8")), testing), path, origins),
      }));
    },
  };
}

const TESTING = /\b(?:defenceDisabled|disabled)\("[^"]*"\)/g;

function defended(text: string, testing: boolean): string {
  return testing ? text : text.replace(TESTING, "false");
}

/** Doc strings and actors of operations are left out: only people and the compiler read them. They would be a tenth of the bytecode of every verb that has a plan. */
function withoutDocs(path: string, text: string): string {
  return path.includes("/src/shared/protocol/operations/") ? text.replace(/\b(?:doc: "(?:[^"\\]|\\.)*"|actors: \[[^\]]*\]),?/g, "") : text;
}

/** The text of a module with every import and export as it would be without an index. */
function pastIndexes(text: string, importer: string, origins: OriginsOf): string {
  const unlessGone = (statement: string, target: string, rewrite: (index: string) => string): string => {
    const index = resolve(dirname(importer), target);
    return existsSync(index) ? rewrite(index) : statement;
  };
  return text
    .replace(THROUGH_INDEX, (statement, keyword: string, names: string, target: string) =>
      unlessGone(statement, target, (index) =>
        specifiers(names)
          .filter((name) => !name.startsWith("type "))
          .map((name) => `${keyword} { ${name} } from "${pathTo(originOf(name.split(" ")[0] ?? "", index, origins), importer)}";`)
          .join(""),
      ),
    )
    .replace(NAMESPACE_IMPORT, (statement, name: string, target: string) =>
      unlessGone(statement, target, (index) => `import * as ${name} from "${pathTo(origins(index).rest, importer)}";`),
    );
}

/** The file that defines a name which an index offers. */
function originOf(name: string, index: string, origins: OriginsOf): string {
  const { named, rest } = origins(index);
  const next = named.get(name) ?? rest;
  return next !== index && next.endsWith("/index.ts") ? originOf(name, next, origins) : next;
}

function readOrigins(index: string): Origins {
  const text = readFileSync(index, "utf8");
  const named = new Map<string, string>();
  for (const [, names = "", target = ""] of text.matchAll(REEXPORT))
    for (const name of specifiers(names)) if (!name.includes(" ")) named.set(name, resolve(dirname(index), target));
  const all = [...text.matchAll(REEXPORT_ALL)].map(([, target = ""]) => resolve(dirname(index), target));
  if (all.length > 1) throw new Error(`${index}: more than one "export *"`);
  return { named, rest: all[0] ?? index };
}

function pathTo(file: string, importer: string): string {
  const path = relative(dirname(importer), file);
  return path.startsWith(".") ? path : `./${path}`;
}

function specifiers(names: string): string[] {
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
