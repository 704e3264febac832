import { EXIT } from "../errors.ts";
import { taskPath, untilGone } from "../tasks.ts";
import { verb } from "../verb.ts";

export const remove = verb<{ readonly wait: boolean }>({
  name: "delete",
  summary: "stop a task and remove everything of it",
  description: ["It returns when nothing of the task is left. SIGINT ends the wait; the daemon goes on."],
  define: (command) => command.argument("<name>", "of a task").option("--no-wait", "return when the daemon knows of it"),
  async run(session, [name = ""], { wait }) {
    const { ids } = await session.client.call<{ ids: string[] }>("DELETE", taskPath(name, session.group));
    for (const id of wait ? ids : []) await untilGone(session, id);
    console.log(`task ${name} ${wait ? "deleted" : "is being deleted"}`);
    return EXIT.done;
  },
});
