/**
 * For tools/bundle.ts --plugin: a runt of a later day. Its records have a larger minor version and fields that nobody knows today; a container
 * with the annotation below asks for something that an older build could not undo, so its record, and no other, says schema 2.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/** Text of a source file -> text of a later day. */
const CHANGES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  "src/runtime/state/record.ts": [
    ["export const STATE_SCHEMA = 1;", "export const STATE_SCHEMA: number = 2;"],
    ["export const STATE_MINOR = 4;", "export const STATE_MINOR: number = 99;"],
  ],
  "src/runtime/execute/intent-record.ts": [
    [
      "    schema: STATE_SCHEMA,\n",
      '    schema: config.annotations["org.runt.test.later"] === undefined ? 1 : 2,\n    later: { field: ["of", "a", "later", "day"] },\n',
    ],
  ],
  "src/runtime/execute/commit.ts": [["    keyring,\n", "    keyring,\n    later: true,\n"]],
};

export const plugin: Plugin = {
  name: "newer",
  setup(build) {
    for (const [file, changes] of Object.entries(CHANGES)) {
      const path = join(process.cwd(), file);
      build.onLoad({ filter: new RegExp(`${file.replaceAll(".", "\\.")}$`) }, (args) => {
        if (args.path !== path) return undefined;
        const contents = changes.reduce(
          (text, [from, to]) => {
            if (!text.includes(from)) throw new Error(`${file} has no ${JSON.stringify(from)}`);
            return text.replace(from, to);
          },
          readFileSync(path, "utf8"),
        );
        return { contents, loader: "ts" };
      });
    }
  },
};
