/** `runtctl validate`: the errors of a file, without a daemon. */
import { EXIT } from "../errors.ts";
import { print, printError } from "../platform/index.ts";
import type { FileToApply } from "../verbs/file.ts";
import { podHost } from "./pod-host.ts";

/** Prints what is wrong. Returns the exit status. */
export async function validated({ source, text, isProject, origin = (one) => one }: FileToApply): Promise<number> {
  if (isProject && text === "") {
    print(`${source}: no services: no errors`);
    return EXIT.done;
  }
  const { parseFile, renderFinding, warningsOf } = await (await import("./parsers.ts")).files();
  const { tasks, findings } = parseFile(text, podHost());
  for (const finding of findings) printError(renderFinding(origin(finding), source));
  for (const warning of warningsOf(tasks)) printError(`${source}: warning: ${warning}`);
  if (findings.length === 0) print(`${source}: ${tasks.map(({ name }) => name).join(", ")}: no errors`);
  return findings.length === 0 ? EXIT.done : EXIT.failed;
}
