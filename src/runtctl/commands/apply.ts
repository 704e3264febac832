import { type Applied, type Finding, renderFinding } from "../../engine/index.ts";
import type { Arguments } from "../arguments.ts";
import { type Client, ClientError } from "../client.ts";
import { textOf } from "./file.ts";

/** Start the tasks of a file. Returns the exit status. */
export async function apply(args: Arguments, client: Client): Promise<number> {
  const { source, text } = textOf(args);
  try {
    const { applied } = await client.call<{ applied: Applied[] }>("POST", "/v1/apply", { text, group: args.group });
    for (const { name, change } of applied) console.log(`task ${name} ${change}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== "invalid-spec") throw error;
    for (const finding of error.body["findings"] as Finding[]) console.error(renderFinding(finding, source));
    return 1;
  }
}
