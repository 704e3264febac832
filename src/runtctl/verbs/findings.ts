/** Prints the errors of a file with their positions. */
import type { Finding } from "../../engine/index.ts";
import { ClientError } from "../client.ts";

/** The response of the daemon; undefined if it refuses the file, after its findings were printed. @throws ClientError */
export async function orFindings<T>(source: string, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== "invalid-spec") throw error;
    const { renderFinding } = await import("../../engine/index.ts");
    for (const finding of error.body["findings"] as Finding[]) console.error(renderFinding(finding, source));
    return undefined;
  }
}
