/** A mutant's executable: the bundle made anew and linked with the objects of the build; its engine starts anew each time. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";
import type { Mutant } from "./catalogue.ts";

const CC = "musl-gcc";
const LINK = ["-static", "-no-pie", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-Wl,-z,norelro", "-Wl,-T,native-bindings/host/image.ld"];
const LIBRARIES = ["build/quickjs/lib/libquickjs.a", "build/libseccomp/lib/libseccomp.a", "-lm"];

/** Returns the path of the executable, in a directory that is made for it. */
export function buildMutant(mutant: Mutant, directory: string): string {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const run = (file: string, args: readonly string[]) =>
    execFileSync(file, args, { cwd: REPOSITORY, env: { ...process.env, RUNT_MUTANT: mutant.id }, stdio: ["ignore", "ignore", "inherit"] });
  run("node_modules/.bin/tsx", ["tools/bundle.ts", "--output", directory, "--plugin", "test/mutants/plugin.ts"]);
  const embed = join(directory, "embed.o");
  run(CC, ["-c", join(directory, "gen/embed.S"), "-o", embed]);
  const objects = readdirSync(join(REPOSITORY, "build/host"))
    .filter((name) => name.endsWith(".o"))
    .map((name) => join("build/host", name));
  const executable = join(directory, "runt");
  run(CC, [...LINK, ...objects, embed, ...LIBRARIES, "-o", executable]);
  return executable;
}
