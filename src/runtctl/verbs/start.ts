import { EXIT } from "../errors.ts";
import { print } from "../platform/index.ts";
import { taskOf, taskPath } from "../tasks.ts";
import { verb } from "../verb.ts";

export const start = verb({
  name: "start",
  summary: "start tasks that have stopped, as they were",
  description: [
    "What ran under the name runs again: the same images, commands and volumes, also of a task of `run -d`. A task that runs stays as it is. When a name is wrong, nothing is done. It returns when the daemon knows of it; `get` shows the rest.",
  ],
  examples: [["start web db", "the tasks web and db"]],
  define: (command) => command.argument("<name...>", "of tasks"),
  async run(session, names) {
    // A name that is wrong is told before anything is started.
    for (const name of names) await taskOf(session, name);
    for (const name of names) {
      await session.client.call("POST", taskPath(name, session.group, "start"));
      print(`task ${name} is being started`);
    }
    return EXIT.done;
  },
});
