/** Requests over a unix socket, by node:http. */
import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { type Answer, ASK, askError, type Question } from "../contract.ts";

/** Options of every request. Without a `servername` the agent works out one for TLS, which takes 4 ms in a new process. */
export function connectionOptions(socketPath: string, path: string): RequestOptions & { readonly servername: "" } {
  return { socketPath, path, servername: "" };
}

/** @throws Error with `code` (contract.ts) */
export function ask(question: Question): Promise<Answer> {
  const { socketPath, method, path, body, silenceMs, isStream, end } = question;
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    // A change gets a new connection, so that it is always known whether the daemon has received it.
    const agent = method === "GET" ? undefined : new Agent();
    const signal = end as AbortSignal | undefined;
    const call = request({ ...connectionOptions(socketPath, path), method, headers, timeout: silenceMs, agent, signal }, (response) => {
      if (isStream) response.socket.setTimeout(0);
      resolve({ status: response.statusCode ?? 0, body: bodyOf(response, clear), close: () => void response.destroy() });
    });
    // What was known first: after it the body only says that it was cut off.
    let failure: Error | undefined;
    const clear = (error: unknown) => {
      failure ??= clearError(error as NodeJS.ErrnoException);
      return failure;
    };
    call.on("timeout", () => {
      failure = askError(ASK.silent, silenceMs);
      call.destroy();
    });
    call.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(askError(ASK.garbled));
    });
    call.on("error", (error: NodeJS.ErrnoException) => {
      // The daemon may have closed an idle connection in the moment in which it was used again (http.ClientRequest.reusedSocket).
      const isStale = call.reusedSocket && failure === undefined && ["ECONNRESET", "EPIPE"].includes(error.code ?? "");
      if (isStale) ask(question).then(resolve, reject);
      else reject(clear(error));
    });
    call.end(body);
  });
}

async function* bodyOf(response: IncomingMessage, clear: (error: unknown) => Error): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) yield chunk as Uint8Array;
  } catch (error) {
    throw clear(error);
  }
}

/** Node's own names and texts for these differ by its version and by the moment. */
function clearError(error: NodeJS.ErrnoException): Error {
  const code = error.code ?? "";
  if (code.startsWith("HPE_")) return askError(ASK.garbled);
  if (code === "ABORT_ERR") return askError(ASK.ended);
  return code === "ECONNRESET" || code === "EPIPE" ? askError(ASK.lost) : error;
}
