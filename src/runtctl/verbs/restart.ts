import type { Restarted } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { print } from "../platform/index.ts";
import { taskPath } from "../tasks.ts";
import { verb } from "../verb.ts";
import { addSeveral, askSeveral, type SeveralOptions, sayDone } from "./several.ts";

interface Options extends SeveralOptions {
  readonly container?: readonly string[];
}

export const restart = verb<Options>({
  name: "restart",
  summary: "restart the containers of tasks",
  description: [
    "When a name is wrong, or a task of that name has stopped, nothing is done; of a file and of a group those tasks are restarted that run. It returns when the daemon knows of it; `get` shows the rest.",
  ],
  examples: [
    ["restart web", "all containers of the task web"],
    ["restart web -c app", "its container app"],
    ["restart -f compose.yaml", "the services of a Compose file that run"],
  ],
  define(command) {
    addSeveral(command);
    command.option(
      "-c, --container <name>",
      "only this container, of one task; may be repeated",
      (name: string, before: readonly string[] = []) => [...before, name],
    );
  },
  async run(session, names, { container: containers, ...options }) {
    if (containers !== undefined) {
      const [name, ...others] = names;
      if (name === undefined || others.length > 0 || options.file !== undefined || options.all)
        throw new UsageError("-c is for the containers of one task");
      await session.client.call("POST", taskPath(name, session.group, "restart"), { containers });
      print(`task ${name} is being restarted`);
      return EXIT.done;
    }
    const restarted = await askSeveral<Restarted>(session, "/v1/restart", names, options);
    if (restarted === undefined) return EXIT.failed;
    sayDone(restarted, "is being restarted", options);
    return EXIT.done;
  },
});
