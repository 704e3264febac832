/** Health checks by HTTPS. As with the kubelet nobody looks at the certificate: it may have any name, and be signed by anybody. */
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import type { HttpCheck } from "../spec/index.ts";
import { overConnection } from "./connection.ts";
import { requestText } from "./http.ts";
import { type Checked, judged, type Probe } from "./probe.ts";

/** Healthy: an answer with a status from 200 to 399 arrived in time. @throws the error of spawn(2) */
export function probeHttps(check: HttpCheck, probe: Probe): Promise<Checked> {
  return overConnection(check, probe, async (connection) => judged(await answered(connection, requestText(check))));
}

/** The rest of a longer answer is not waited for. */
const LONGEST_ANSWER = 65_536;

/** @throws Error: there is no connection with TLS */
function answered(connection: Duplex, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const encrypted = connect({ socket: connection, rejectUnauthorized: false }, () => encrypted.write(request));
    encrypted.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.length >= LONGEST_ANSWER) resolve(text);
    });
    // Many servers close without the end that TLS has for it.
    encrypted.on("error", (error) => (text === "" ? reject(error) : resolve(text)));
    encrypted.on("close", () => resolve(text));
    encrypted.on("end", () => resolve(text));
  });
}
