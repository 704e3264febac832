import type { Restarted } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { print } from "../platform/index.ts";
import { taskOf, taskPath } from "../tasks.ts";
import { endFor, limitOf, untilEnded, type WaitedFor } from "../until.ts";
import { verb } from "../verb.ts";
import { addSeveral, addWait, askSeveral, type SeveralOptions, sayDone } from "./several.ts";

export const start = verb({
  name: "start",
  summary: "start tasks that have stopped, as they were",
  description: [
    "start runs a stopped task again, with the same images, commands and volumes. This includes tasks of `run -d`. A running task stays as it is. If a name is wrong, start does nothing. It returns when the daemon has recorded the request; `get` shows the progress.",
  ],
  examples: [["start web db", "start the tasks web and db"]],
  define: (command) => command.argument("<name...>", "of tasks"),
  async run(session, names) {
    // All names are checked before anything is started.
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
    "Several tasks stop in the inverse order of their dependencies. stop returns when they have stopped. If they have not stopped within the timeout, it prints the reasons and returns 1. SIGINT also ends the wait; the daemon goes on. `start` starts a stopped task again. `delete` removes it, and the daemon removes it at the end of its retention.",
  ],
  examples: [
    ["stop web", "stop the task web"],
    ["stop -f compose.yaml", "stop the services of a Compose file; `apply -f compose.yaml` starts them again"],
  ],
  define(command) {
    addSeveral(command);
    addWait(command);
  },
  async run(session, names, options) {
    const end = endFor(limitOf(options));
    const selected = await askSeveral(session, "/v1/stop", names, options);
    if (selected === undefined) return EXIT.failed;
    const { tasks } = selected;
    const open = options.wait ? await untilEnded(session, { tasks, to: "stopped", end }) : undefined;
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
    "If a name is wrong, or if a named task has stopped, restart does nothing. With a file or a group it restarts the running tasks. It returns when the daemon has recorded the request; `get` shows the progress.",
  ],
  examples: [
    ["restart web", "restart all containers of the task web"],
    ["restart web -c app", "restart only its container app"],
    ["restart -f compose.yaml", "restart the running services of a Compose file"],
  ],
  define(command) {
    addSeveral(command);
    command.option(
      "-c, --container <name>",
      "restart only this container of one task; may be repeated",
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
  description: ["rollback returns when the daemon has recorded the request; `get` shows the progress. A second rollback undoes the first."],
  define: (command) => command.argument("<name>", "of a task"),
  async run({ client, group }, [name = ""]) {
    const { id } = await client.call<{ id: string }>("POST", taskPath(name, group, "rollback"));
    print(`task ${name} goes back to ${id}`);
    return EXIT.done;
  },
});
