import { taskJsonSchema } from "../../engine/index.ts";
import { EXIT } from "../errors.ts";
import { print } from "../platform/index.ts";
import { verb } from "../verb.ts";

export const schema = verb({
  name: "schema",
  summary: "print the JSON Schema of a task, for editors; needs no daemon",
  examples: [["schema > task.schema.json", "then, in the first line of a file: # yaml-language-server: $schema=task.schema.json"]],
  define: () => {},
  async run() {
    print(JSON.stringify(taskJsonSchema(), null, 2));
    return EXIT.done;
  },
});
