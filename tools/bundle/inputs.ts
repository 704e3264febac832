import { writeFileSync } from "node:fs";
import type { Metafile } from "esbuild";

/** The files of which the modules contain something, for the bill of materials (tools/sbom). */
export function writeInputs(file: string, outputs: Metafile["outputs"]): void {
  const used = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs).filter((name) => (inputs[name]?.bytesInOutput ?? 0) > 0));
  writeFileSync(
    file,
    [...new Set(used)]
      .sort()
      .map((name) => `${name}\n`)
      .join(""),
  );
}
