import { writeFileSync } from "node:fs";
import type { Metafile } from "esbuild";

/** The files of which the modules contain something. */
export function usedInputs(outputs: Metafile["outputs"]): string[] {
  const used = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs).filter((name) => (inputs[name]?.bytesInOutput ?? 0) > 0));
  return [...new Set(used)].sort();
}

/** Writes them for the bill of materials (tools/sbom). */
export function writeInputs(file: string, outputs: Metafile["outputs"]): void {
  writeFileSync(
    file,
    usedInputs(outputs)
      .map((name) => `${name}\n`)
      .join(""),
  );
}
