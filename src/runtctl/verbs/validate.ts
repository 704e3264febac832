import { EXIT } from "../errors.ts";
import { podHost } from "../pod-host.ts";
import { verb } from "../verb.ts";
import { addFileOption, type FileOption, textOf } from "./file.ts";

export const validate = verb<FileOption>({
  name: "validate",
  summary: "every error of a file, with line and column; needs no daemon",
  define: addFileOption,
  async run(_, __, options) {
    const { source, text } = textOf(options);
    const { renderFinding } = await import("../../engine/index.ts");
    const { parseFile } = await import("../../pod/index.ts");
    const { tasks, findings } = parseFile(text, podHost());
    for (const finding of findings) console.error(renderFinding(finding, source));
    if (findings.length === 0) console.log(`${source}: ${tasks.map(({ name }) => name).join(", ")}: no errors`);
    return findings.length === 0 ? EXIT.done : EXIT.failed;
  },
});
