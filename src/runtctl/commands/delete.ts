import { setTimeout as sleep } from "node:timers/promises";
import { type Arguments, nameOf } from "../arguments.ts";
import { type Client, ClientError } from "../client.ts";
import { taskPath } from "./get.ts";

const LOOK_MS = 100;

/** Stop a task and remove everything of it. Without --no-wait it returns when nothing is left. Returns the exit status. */
export async function remove(args: Arguments, client: Client): Promise<number> {
  const name = nameOf(args);
  const { id } = await client.call<{ id: string }>("DELETE", taskPath(name, args.group));
  // SIGINT ends the wait; the daemon goes on.
  while (args.isWaiting && (await isThere(id, args, client))) await sleep(LOOK_MS);
  console.log(`task ${name} ${args.isWaiting ? "deleted" : "is being deleted"}`);
  return 0;
}

async function isThere(id: string, { group }: Arguments, client: Client): Promise<boolean> {
  try {
    await client.call("GET", taskPath(id, group));
    return true;
  } catch (error) {
    if (error instanceof ClientError && error.code === "unknown-task") return false;
    throw error;
  }
}
