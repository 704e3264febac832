import type { Restarted } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { print } from "../platform/index.ts";
import { taskOf, taskPath } from "../tasks.ts";
import { limitOf, untilEnded, type WaitedFor } from "../until.ts";
import { verb } from "../verb.ts";
import { addSeveral, addWait, askSeveral, type SeveralOptions, sayDone } from "./several.ts";

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

export const stop = verb<SeveralOptions & WaitedFor>({
  name: "stop",
  summary: "stop tasks, and keep them for inspection",
  description: [
    "Several tasks stop in the inverse order of their dependencies. It returns when they have stopped; and with 1 when the time is over, after it has said what keeps them from it. SIGINT ends the wait, too; the daemon goes on. `start` starts a task again, `delete` removes it, and so does the end of its retention.",
  ],
  examples: [
    ["stop web", "the task web"],
    ["stop -f compose.yaml", "the services of a Compose file; `apply -f compose.yaml` starts them again"],
  ],
  define(command) {
    addSeveral(command);
    addWait(command);
  },
  async run(session, names, options) {
    const limitMs = limitOf(options);
    const selected = await askSeveral(session, "/v1/stop", names, options);
    if (selected === undefined) return EXIT.failed;
    const { tasks } = selected;
    const open = options.wait ? await untilEnded(session, { tasks, to: "stopped", limitMs }) : undefined;
    sayDone(selected, options.wait ? "stopped" : "is being stopped", options, open);
    return open !== undefined && open.size > 0 ? EXIT.failed : EXIT.done;
  },
});

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
