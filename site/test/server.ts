/** Serves the built site on the loopback interface. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const HTML = fileURLToPath(new URL("../../build/site/html/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

export interface Server {
  /** Without a slash at its end. */
  readonly address: string;
  close(): Promise<void>;
}

export async function serve(): Promise<Server> {
  const server = createServer(({ url = "/" }, answer) => {
    const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
    const file = join(HTML, path.endsWith("/") ? `${path}index.html` : path);
    const isThere = file.startsWith(HTML) && existsSync(file) && statSync(file).isFile();
    answer.writeHead(isThere ? 200 : 404, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    answer.end(isThere ? readFileSync(file) : "");
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return { address: `http://127.0.0.1:${port}`, close };
}
