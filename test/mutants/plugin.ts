/** For tools/bundle.ts --plugin: changes the source file of the mutant that RUNT_MUTANT names, on its way into the bundle. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "esbuild";
import { MUTANTS } from "./catalogue.ts";

const id = process.env["RUNT_MUTANT"];
const mutant = MUTANTS.find((one) => one.id === id);
if (mutant === undefined) throw new Error(`there is no mutant ${id}`);
const path = join(process.cwd(), mutant.file);

export const plugin: Plugin = {
  name: "mutant",
  setup(build) {
    build.onLoad({ filter: new RegExp(`${mutant.file.replaceAll(/[.\\]/g, "\\$&")}$`) }, (args) => {
      if (args.path !== path) return undefined;
      return { contents: mutant.change(readFileSync(args.path, "utf8")), loader: "ts" };
    });
  },
};
