/**
 * The fuzzer's subject as one script, with counters in the channel's own modules. Usage: bundle.ts FILE [NUMBER]: without the check of that number
 * (test/support/channel/checks.ts); bundle.ts --count: how many there are.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { CHECKS, withoutCheck } from "../support/channel/checks.ts";
import { REPOSITORY } from "../support/programs.ts";
import { instrument, type Place } from "./instrument.ts";

/** As many as target.c has. */
const COUNTERS_MOST = 1024;

export interface Subject {
  readonly script: string;
  readonly places: readonly Place[];
}

export async function bundle(check?: (typeof CHECKS)[number]): Promise<Subject> {
  const places: Place[] = [];
  const { outputFiles } = await build({
    entryPoints: [join(REPOSITORY, "test/fuzz-channel/subject.ts")],
    ...{ bundle: true, write: false, format: "iife", globalName: "subject", target: "es2023", logLevel: "warning" },
    plugins: [
      {
        name: "counters",
        setup(of) {
          of.onLoad({ filter: /\/runtime\/machine\/channel\/\w+\.ts$/ }, ({ path }) => {
            const text = readFileSync(path, "utf8");
            const changed = instrument(relative(REPOSITORY, path), check ? withoutCheck(path, text, check) : text, places.length);
            places.push(...changed.places);
            return { contents: changed.text, loader: "ts" };
          });
        },
      },
    ],
  });
  if (places.length > COUNTERS_MOST) throw new Error(`${places.length} counters: target.c has ${COUNTERS_MOST}`);
  return { script: outputFiles[0]!.text, places };
}

const [file, number] = process.argv.slice(2);
if (import.meta.filename === process.argv[1]) {
  if (file === "--count") console.log(CHECKS.length);
  else if (file === undefined) throw new Error("bundle.ts FILE [NUMBER] | --count");
  else writeFileSync(file, (await bundle(number === undefined ? undefined : CHECKS[Number(number)])).script);
}
