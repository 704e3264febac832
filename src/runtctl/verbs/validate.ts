import { EXIT } from "../errors.ts";
import { podHost } from "../pod-host.ts";
import { verb } from "../verb.ts";
import { addComposeOptions, type ComposeFlags, fileToApply } from "./compose.ts";
import { addFileOption, type FileOption } from "./file.ts";

export const validate = verb<FileOption & ComposeFlags>({
  name: "validate",
  summary: "report all errors of a file, with line and column; needs no daemon",
  define(command) {
    addFileOption(command);
    addComposeOptions(command);
  },
  async run(_, __, options) {
    const file = await fileToApply(options, "");
    if (file === undefined) return EXIT.failed;
    const { source, text } = file;
    const { renderFinding } = await import("../../engine/index.ts");
    const { parseFile } = await import("../../pod/index.ts");
    const { tasks, findings } = parseFile(text, podHost());
    for (const finding of findings) console.error(renderFinding(finding, source));
    if (findings.length === 0) console.log(`${source}: ${tasks.map(({ name }) => name).join(", ")}: no errors`);
    return findings.length === 0 ? EXIT.done : EXIT.failed;
  },
});
