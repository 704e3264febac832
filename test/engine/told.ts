/** What an engine tells of itself when a test has failed, so that a rare failure need not be seen twice. */
import { existsSync } from "node:fs";
import { http } from "./requests.ts";
import type { Daemon } from "./support.ts";

const LINES = 60;
const ANSWER_MS = 5_000;

/** Its tasks with the reasons, and the ends of the daemons' logs. Takes 5 s at most. */
export async function told(socket: string, daemons: readonly Daemon[]): Promise<string> {
  const logs = daemons.map((daemon) => daemon.log().trimEnd().split("\n").slice(-LINES).join("\n"));
  return [await tasks(socket), ...logs].join("\n");
}

async function tasks(socket: string): Promise<string> {
  if (!existsSync(socket)) return "no daemon";
  const late = new Promise<string>((resolve) => setTimeout(() => resolve("the daemon does not answer"), ANSWER_MS).unref());
  const asked = http(socket, "GET", "/v1/tasks").then(({ text }) => {
    const all: { name: string; known: string; reason?: unknown; containers: { name: string; known: string; reason?: unknown }[] }[] =
      JSON.parse(text).tasks;
    return all
      .map((one) =>
        [one, ...one.containers].map(({ name, known, reason }) => `${name} ${known} ${JSON.stringify(reason ?? "")}`).join("; "),
      )
      .join("\n");
  });
  return Promise.race([asked, late]).catch(String);
}
