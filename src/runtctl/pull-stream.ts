/** Pulls an image through the daemon, and reports the progress. */
import { type IncomingMessage, request } from "node:http";
import { ClientError, connectionError, connectionOptions } from "./client.ts";
import type { Sockets } from "./sockets.ts";

export interface PullProgress {
  readonly bytes: number;
  readonly total: number | null;
}

export interface PulledImage {
  readonly reference: string;
  readonly digest: string;
  readonly via: "pulled" | "current" | "cache" | "usingCachedDigest";
  readonly error: string | null;
}

/** The pull is cancelled if this process ends. @throws ClientError */
export async function pullImage(sockets: Sockets, body: object, onProgress: (progress: PullProgress) => void): Promise<PulledImage> {
  const response = await asked(sockets[0], JSON.stringify(body));
  response.setEncoding("utf8");
  let text = "";
  for await (const chunk of response) {
    text += chunk;
    if (response.statusCode !== 200) continue;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const [event, data] = ["event", "data"].map((name) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1] ?? "");
      if (event === "progress") onProgress(JSON.parse(data!) as PullProgress);
      if (event === "image") return JSON.parse(data!) as PulledImage;
      if (event === "error") throw refusal(data!);
    }
  }
  if (response.statusCode !== 200) throw refusal(text);
  throw new ClientError("unreachable", "the daemon has ended before the image was there");
}

function refusal(text: string): ClientError {
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return new ClientError(String(body["code"]), String(body["message"]), { body });
}

function asked(socketPath: string, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const call = request({ ...connectionOptions(socketPath, "/v1/images/pull"), method: "POST", headers }, resolve);
    call.once("error", (error) => reject(connectionError(socketPath, error)));
    call.end(body);
  });
}
