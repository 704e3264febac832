import { setTimeout as sleep } from "node:timers/promises";
import { ClientError } from "../client.ts";
import { EXIT } from "../errors.ts";
import type { Session } from "../session.ts";
import { taskOf, taskPath } from "../tasks.ts";
import { verb } from "../verb.ts";

const LOOK_MS = 100;

export const remove = verb<{ readonly wait: boolean }>({
  name: "delete",
  summary: "stop a task and remove everything of it",
  description: ["It returns when nothing of the task is left. SIGINT ends the wait; the daemon goes on."],
  define: (command) => command.argument("<name>", "of a task").option("--no-wait", "return when the daemon knows of it"),
  async run(session, [name = ""], { wait }) {
    const { ids } = await session.client.call<{ ids: string[] }>("DELETE", taskPath(name, session.group));
    for (const id of wait ? ids : []) while (await isThere(id, session)) await sleep(LOOK_MS);
    console.log(`task ${name} ${wait ? "deleted" : "is being deleted"}`);
    return EXIT.done;
  },
});

async function isThere(id: string, session: Session): Promise<boolean> {
  try {
    await taskOf(session, id);
    return true;
  } catch (error) {
    if (error instanceof ClientError && error.code === "unknown-task") return false;
    throw error;
  }
}
