/** Health checks over HTTPS. Like the kubelet, it accepts any certificate, whatever its name and issuer. */
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import type { HttpCheck } from "../spec/index.ts";
import { type Checked, overConnection, type Probe } from "./connection.ts";
import { requestText } from "./http.ts";
import { judged } from "./probe.ts";

/** Healthy: a response with a status from 200 to 399 arrived in time. @throws the errors of `start` */
export function probeHttps(check: HttpCheck, probe: Probe): Promise<Checked> {
  return overConnection(check, probe, async (connection) => judged(await answered(connection, requestText(check))));
}

/** In bytes. The rest of a longer response is not read. */
const LONGEST_ANSWER = 65_536;

/** @throws Error: no TLS connection could be made */
function answered(connection: Duplex, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const encrypted = connect({ socket: connection, rejectUnauthorized: false }, () => encrypted.write(request));
    encrypted.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.length >= LONGEST_ANSWER) resolve(text);
    });
    // Many servers close the connection without the TLS close_notify alert.
    encrypted.on("error", (error) => (text === "" ? reject(error) : resolve(text)));
    encrypted.on("close", () => resolve(text));
    encrypted.on("end", () => resolve(text));
  });
}
