import { EXIT } from "../errors.ts";
import { taskPath } from "../tasks.ts";
import { verb } from "../verb.ts";

export const restart = verb({
  name: "restart",
  summary: "restart containers of a task",
  description: ["Without names all containers of the task. It returns when the daemon knows of it; `get` shows the rest."],
  examples: [["restart web app", "the container app of the task web"]],
  define: (command) => command.argument("<name>", "of a task").argument("[containers...]", "of the task"),
  async run({ client, group }, [name = "", ...containers]) {
    await client.call("POST", taskPath(name, group, "restart"), { containers });
    console.log(`task ${name} is being restarted`);
    return EXIT.done;
  },
});
