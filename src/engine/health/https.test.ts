import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { createServer as createTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { probeHttps, relayIn } from "./index.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-https-"));
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Stands for runt-pause: connects stdin and stdout to a port, without entering a namespace. */
const CONNECT = `#!${process.execPath}
const [, , , , address, port] = process.argv;
const socket = require("node:net").connect(Number(port), address);
socket.on("error", (error) => { console.error(error.message); process.exit(1); });
process.stdin.pipe(socket).pipe(process.stdout);
`;

const HAS_OPENSSL = ["/usr/bin", "/bin", "/usr/local/bin"].some((place) => existsSync(join(place, "openssl")));

test.skipIf(!HAS_OPENSSL)(
  "P4 a probe over TLS takes any certificate, and what was answered counts; a server without TLS is unhealthy",
  async () => {
    const program = join(directory, "connect.cjs");
    writeFileSync(program, CONNECT);
    chmodSync(program, 0o755);
    const [key, cert] = [join(directory, "key"), join(directory, "cert")];
    const subject = ["-subj", "/CN=nobody.example", "-days", "1", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    execFileSync("openssl", ["req", "-x509", ...subject, "-keyout", key, "-out", cert], { stdio: "ignore" });
    let status = 204;
    const seen: string[] = [];
    const answering = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
      seen.push(`${request.url} ${request.headers["x-a"]}`);
      response.writeHead(status).end("busy");
    });
    const plain = createTcp((socket) => socket.end("220 hello\r\n"));
    const portOf = async (server: Server) => {
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return (server.address() as AddressInfo).port;
    };
    const probe = { start: relayIn("/", program), timeoutMs: 30_000 };
    const check = { port: await portOf(answering), path: "/up", address: "127.0.0.1", headers: { "X-A": "b" }, tls: true };
    expect(await probeHttps(check, probe)).toEqual({ isHealthy: true, status: 204, output: "HTTP/1.1 204 No Content" });
    expect(seen).toEqual(["/up b"]);
    status = 503;
    expect(await probeHttps(check, probe)).toEqual({ isHealthy: false, status: 503, output: expect.stringMatching(/^HTTP\/1\.1 503 /) });
    expect((await probeHttps({ ...check, port: await portOf(plain) }, probe)).isHealthy).toBe(false);
  },
);
