/** Prints the errors of a file with their positions. */
import { type Finding, renderFinding } from "../../engine/index.ts";
import { ClientError } from "../client.ts";
import { printError } from "../platform/index.ts";
import type { FileToApply } from "./file.ts";

type Source = Pick<FileToApply, "source" | "origin">;

/** The response of the daemon; undefined if it refuses the file, after its findings were printed. @throws ClientError */
export async function orFindings<T>({ source, origin = (one) => one }: Source, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== "invalid-spec") throw error;
    for (const finding of error.body["findings"] as Finding[]) printError(renderFinding(origin(finding), source));
    return undefined;
  }
}
