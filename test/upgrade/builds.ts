/** The builds that the upgrade test swaps. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";
import { buildVariant, COMPILER } from "../support/variant.ts";

/** Beside the other programs of the tests. */
const NEWER = join(REPOSITORY, "build/test/newer");
const OLDER = join(REPOSITORY, "build/upgrade");

/** A runt of a later day, made of these sources (newer.ts). undefined: it is out of date, and this machine cannot make it. */
export function newerBuild(): string | undefined {
  const executable = join(NEWER, "runt");
  const made = existsSync(executable) ? statSync(executable).mtimeMs : 0;
  const isFresh = ["bin/runt", "test/upgrade/newer.ts"].every((file) => statSync(join(REPOSITORY, file)).mtimeMs < made);
  if (isFresh) return executable;
  return existsSync(COMPILER) ? buildVariant("test/upgrade/newer.ts", NEWER) : undefined;
}

/** Builds of earlier commits, as tools/older-build.sh (`make test-upgrade`) leaves them: commit and executable. */
export function olderBuilds(): readonly (readonly [string, string])[] {
  if (!existsSync(OLDER)) return [];
  return readdirSync(OLDER)
    .filter((name) => /^[0-9a-f]{7,40}$/.test(name))
    .map((name) => [name, join(OLDER, name, "bin/runt")] as const)
    .filter(([, executable]) => existsSync(executable));
}
