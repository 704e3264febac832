import { type Applied, type Finding, renderFinding } from "../../engine/index.ts";
import { ClientError } from "../client.ts";
import { EXIT } from "../errors.ts";
import { verb } from "../verb.ts";
import { addFileOption, type FileOption, textOf } from "./file.ts";

export const apply = verb<FileOption>({
  name: "apply",
  summary: "start the tasks of a file, all or none",
  description: ["Tasks that run already, as the file says, stay as they are."],
  examples: [["apply -f web.yaml", "start what web.yaml says"]],
  define: addFileOption,
  async run({ client, group }, _, options) {
    const { source, text } = textOf(options);
    try {
      const { applied } = await client.call<{ applied: Applied[] }>("POST", "/v1/apply", { text, group });
      for (const { name, change } of applied) console.log(`task ${name} ${change}`);
      return EXIT.done;
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== "invalid-spec") throw error;
      for (const finding of error.body["findings"] as Finding[]) console.error(renderFinding(finding, source));
      return EXIT.failed;
    }
  },
});
