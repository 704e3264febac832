import { EXIT } from "../errors.ts";
import { taskPath, untilGone } from "../tasks.ts";
import { verb } from "../verb.ts";

export const remove = verb<{ readonly wait: boolean }>({
  name: "delete",
  summary: "stop a task and remove it with everything that belongs to it",
  description: ["It returns when nothing of the task is left. SIGINT ends the wait; the daemon goes on."],
  define: (command) =>
    command.argument("<name>", "name of the task").option("--no-wait", "return as soon as the daemon has recorded the request"),
  async run(session, [name = ""], { wait }) {
    const { ids } = await session.client.call<{ ids: string[] }>("DELETE", taskPath(name, session.group));
    for (const id of wait ? ids : []) await untilGone(session, id);
    console.log(`task ${name} ${wait ? "deleted" : "is being deleted"}`);
    return EXIT.done;
  },
});
