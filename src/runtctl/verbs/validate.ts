import { EXIT } from "../errors.ts";
import { onNode } from "../platform/index.ts";
import { verb } from "../verb.ts";
import { addComposeOptions, fileToApply } from "./compose.ts";
import { addFileOption, type ComposeFlags, type FileOption } from "./file.ts";

export const validate = verb<FileOption & ComposeFlags>({
  name: "validate",
  summary: "report all errors of a file, with line and column; needs no daemon",
  define(command) {
    addFileOption(command);
    addComposeOptions(command);
  },
  async run(_, __, options) {
    const { validated } = await onNode(() => import("../on-node/validate.ts"));
    const file = await fileToApply(options, undefined, { mayBeEmpty: true });
    return file === undefined ? EXIT.failed : validated(file);
  },
});
