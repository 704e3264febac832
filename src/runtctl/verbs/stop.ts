import { setTimeout as sleep } from "node:timers/promises";
import { EXIT } from "../errors.ts";
import { taskOf, taskPath } from "../tasks.ts";
import { verb } from "../verb.ts";

const LOOK_MS = 100;

export const stop = verb<{ readonly wait: boolean }>({
  name: "stop",
  summary: "stop a task, and keep it for inspection",
  description: [
    "It returns when the task has stopped. SIGINT ends the wait; the daemon goes on. `apply` starts the task again, `delete` removes it, and so does the end of its retention.",
  ],
  define: (command) =>
    command.argument("<name>", "name of the task").option("--no-wait", "return as soon as the daemon has recorded the request"),
  async run(session, [name = ""], { wait }) {
    const { id } = await session.client.call<{ id: string }>("POST", taskPath(name, session.group, "stop"));
    while (wait && (await taskOf(session, id)).known !== "STOPPED") await sleep(LOOK_MS);
    console.log(`task ${name} ${wait ? "stopped" : "is being stopped"}`);
    return EXIT.done;
  },
});
