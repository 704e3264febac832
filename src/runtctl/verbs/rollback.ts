import { EXIT } from "../errors.ts";
import { print } from "../platform/index.ts";
import { taskPath } from "../tasks.ts";
import { verb } from "../verb.ts";

export const rollback = verb({
  name: "rollback",
  summary: "return to the spec that ran before under the name of a task",
  description: ["It returns when the daemon knows of it; `get` shows the rest. A second rollback comes back to the first."],
  define: (command) => command.argument("<name>", "of a task"),
  async run({ client, group }, [name = ""]) {
    const { id } = await client.call<{ id: string }>("POST", taskPath(name, group, "rollback"));
    print(`task ${name} goes back to ${id}`);
    return EXIT.done;
  },
});
