/** Finds runt-pause: in the package (x86-64), or where the runtime is installed. */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "runt-pause";

export class PauseNotFoundError extends Error {
  override readonly name = "PauseNotFoundError";
  readonly tried: readonly string[];

  constructor(tried: readonly string[]) {
    super(`no ${NAME} found, which holds shared namespaces: tried ${tried.join(", ")}`);
    this.tried = tried;
  }
}

/** @param runtime path of the runt executable. @throws PauseNotFoundError */
export function locatePause(runtime: string): string {
  // The relative path is the same from dist/engine/pause and from src/engine/pause.
  const packaged = process.arch === "x64" ? [fileURLToPath(new URL(`../../../bin/${NAME}`, import.meta.url))] : [];
  const beside = dirname(runtime);
  const tried = [...packaged, join(beside, NAME), join(beside, "../libexec/runt", NAME)];
  const found = tried.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  if (found === undefined) throw new PauseNotFoundError(tried);
  return found;
}
