import type { Applied, AppliedChange } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { verb } from "../verb.ts";
import { type ApplyOptions, addApplyOptions, applyOptionsOf } from "./apply-options.ts";
import { addComposeOptions, type ComposeFlags, fileToApply } from "./compose.ts";
import { addFileOption, type FileOption } from "./file.ts";
import { orFindings } from "./findings.ts";

type Options = FileOption & ApplyOptions & ComposeFlags;

const WORDS: Readonly<Partial<Record<AppliedChange, string>>> = {
  removed: "is being removed",
  succeeded: "has succeeded already",
};

export const apply = verb<Options>({
  name: "apply",
  summary: "create or change the tasks of a file: all of them, or none on an error",
  description: [
    "Tasks that run already, as the file says, stay as they are. Where only limits of containers are different, they are changed while the containers run. A task that is otherwise different is stopped, and the new one takes its place.",
    "A task that has succeeded and has the same text is not run again. Tasks of the group that are not in the file are named with -, and stay.",
  ],
  examples: [
    ["apply -f web.yaml", "start what web.yaml says"],
    ["apply -f web.yaml --prune", "and remove what it says no longer"],
    ["apply -f compose.yaml -p shop", "start the services of a Compose file as group shop"],
  ],
  define(command) {
    addFileOption(command);
    addApplyOptions(command);
    addComposeOptions(command);
  },
  async run({ client, group }, _, options) {
    const file = await fileToApply(options, group);
    if (file === undefined) return EXIT.failed;
    const { source, ...body } = file;
    const answer = await orFindings(source, () =>
      client.call<{ applied: Applied[] }>("POST", "/v1/apply", { ...body, ...applyOptionsOf(options) }),
    );
    for (const { name, change } of answer?.applied ?? [])
      console.log(change === "absent" ? `- task ${name} is not in the file` : `task ${name} ${WORDS[change] ?? change}`);
    return answer === undefined ? EXIT.failed : EXIT.done;
  },
});
