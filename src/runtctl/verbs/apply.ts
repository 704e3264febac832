import type { Applied } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { verb } from "../verb.ts";
import { addFileOption, type FileOption, textOf } from "./file.ts";
import { orFindings } from "./findings.ts";

export const apply = verb<FileOption>({
  name: "apply",
  summary: "start the tasks of a file, all or none",
  description: ["Tasks that run already, as the file says, stay as they are."],
  examples: [["apply -f web.yaml", "start what web.yaml says"]],
  define: addFileOption,
  async run({ client, group }, _, options) {
    const { source, text } = textOf(options);
    const answer = await orFindings(source, () => client.call<{ applied: Applied[] }>("POST", "/v1/apply", { text, group }));
    for (const { name, change } of answer?.applied ?? []) console.log(`task ${name} ${change}`);
    return answer === undefined ? EXIT.failed : EXIT.done;
  },
});
