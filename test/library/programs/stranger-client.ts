/** A program of somebody who has installed the package and asks a daemon. Compiled by `tsc --strict` in a project of its own (package.test.ts). */
import type { Duplex } from "node:stream";
import { ClientError, connect, type EngineClient, type JournalEvent, type Program, type Task } from "@runt-project/runt/client";

const engine: EngineClient = connect({ socket: process.argv[2] });

export async function work(signal: AbortSignal): Promise<string> {
  const task: Task = await engine.tasks.get({ name: "web" }, { signal, timeoutMs: 1000 });
  const known: "NONE" | "CREATED" | "RUNNING" | "STOPPED" = task.known;
  await using program: Program = await engine.tasks.exec({ name: "web", command: ["true"] });
  const exitCode: number | null = (await program.wait()).exitCode;
  const pool = await engine.pools.run({ name: "py", files: [{ path: "/a", content: "b" }] });
  const endedBy: "itself" | "deadline" | "aborted" | "output" | "killed" = (await pool.wait()).endedBy;
  const port: Duplex = await engine.tasks.forward({ name: "web", port: 80 });
  port.destroy();
  const first: JournalEvent | undefined = (await engine.events.follow().next()).value;
  for await (const record of engine.tasks.logs({ name: "web", tail: 1 })) return record.bytes.toString("utf8");
  for await (const step of engine.images.pull({ reference: "x" })) if (step.event === "image") return step.data.digest;
  // @ts-expect-error the name of the task is missing
  await engine.tasks.get({});
  // @ts-expect-error there is no such option
  await engine.tasks.get({ name: "web", grup: "x" });
  // @ts-expect-error the client decides about the format
  engine.tasks.logs({ name: "web", format: "text" });
  // @ts-expect-error a list of tasks has no parameters
  await engine.tasks.list({ name: "web" });
  // @ts-expect-error there is no such method
  await engine.tasks.freeze({ name: "web" });
  return `${known} ${exitCode} ${endedBy} ${first}`;
}

work(AbortSignal.timeout(10_000)).catch((error: unknown) => {
  if (error instanceof ClientError) console.log(error.code, error.status, error.hint);
});
