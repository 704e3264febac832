/** Requests to a daemon, and waiting for what they lead to: also for programs that are no tests. */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE_MS } from "../support/patience.ts";

/** @throws Error, with what `why` says, when it does not come about in time */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = PATIENCE_MS,
  why: () => string = () => "",
): Promise<void> {
  // Tests set the clock of the wall, too.
  const deadline = performance.now() + timeoutMs;
  // What has not come soon is waited for with fewer looks, because a look may be a process or a request.
  for (let looks = 0; !(await condition()); looks++) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition} ${why()}`);
    await sleep(looks < 20 ? 5 : 50);
  }
}

/** "pid:start ticks": the same text is the same process. */
export function identityOf(pid: number): string {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return `${pid}:${fields[19]}`;
}

/** One request, as curl would make it. Rejects when the daemon dies before it answers. */
export function http(
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    // On a connection that is kept, node:http listens for errors no more once the answer is there; a body that is refused half-way fails after it.
    const agent = body === undefined ? undefined : false;
    const call = request({ socketPath, method, path, headers, agent }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode!, text }));
      response.on("error", reject);
    });
    call.on("error", (error: NodeJS.ErrnoException) => {
      // The daemon may have closed a connection that was idle at the moment when it was used again (http.ClientRequest.reusedSocket).
      if (call.reusedSocket && ["ECONNRESET", "EPIPE"].includes(error.code ?? ""))
        http(socketPath, method, path, body).then(resolve, reject);
      else reject(error);
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
