/** Builds an executable of changed sources: bundles them again with one more plugin, and links with the objects of the build. It has no engine image. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./programs.ts";
import { runSync } from "./run-sync.ts";

export const COMPILER = "/usr/bin/musl-gcc";
const LINK = ["-static", "-no-pie", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-Wl,-z,norelro", "-Wl,-T,native-bindings/program/image.ld"];
const LIBRARIES = ["build/quickjs/lib/libquickjs.a", "build/libseccomp/lib/libseccomp.a", "-lm"];

/** `plugin`: for tools/bundle.ts. Returns the path of the executable, in a directory that is made for it. */
export function buildVariant(plugin: string, directory: string, env: Readonly<Record<string, string>> = {}): string {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const run = (file: string, args: readonly string[]) =>
    runSync(file, args, { cwd: REPOSITORY, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit"] });
  run("node_modules/.bin/tsx", ["tools/bundle.ts", "--output", directory, "--plugin", plugin]);
  const embed = join(directory, "embed.o");
  run(COMPILER, ["-c", join(directory, "gen/embed.S"), "-o", embed]);
  const objects = ["build/program", "build/host", "build/twins", "build/shared"].flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder))
      .filter((name) => name.endsWith(".o"))
      .map((name) => join(folder, name)),
  );
  const executable = join(directory, "runt");
  run(COMPILER, [...LINK, ...objects, embed, ...LIBRARIES, "-o", executable]);
  return executable;
}
