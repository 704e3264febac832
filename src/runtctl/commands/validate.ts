import { parseTasks, renderFinding } from "../../engine/index.ts";
import type { Arguments } from "../arguments.ts";
import { textOf } from "./file.ts";

/** Every error of a file. Returns the exit status. */
export async function validate(args: Arguments): Promise<number> {
  const { source, text } = textOf(args);
  const { tasks, findings } = parseTasks(text);
  for (const finding of findings) console.error(renderFinding(finding, source));
  if (findings.length === 0) console.log(`${source}: ${tasks.map(({ name }) => name).join(", ")}: no errors`);
  return findings.length === 0 ? 0 : 1;
}
