/** esbuild plugin: source modules of the runtime as the program needs them. */
import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/** But for the test build, `false` takes the place of every `defenceDisabled("NAME")` and `disabled("NAME")` (src/runtime/testing/index.ts). */
export function runtimeSources({ testing }: { readonly testing: boolean }): Plugin {
  return {
    name: "runtime-sources",
    setup(build) {
      build.onLoad({ filter: /\/(src|test)\/.*\.ts$/ }, ({ path }) => ({
        loader: "ts",
        contents: defended(withoutDocs(path, readFileSync(path, "utf8")), testing),
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
