/** Detached signatures with Ed25519: the same key and the same bytes give the same signature, so a signed release is reproducible, too. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { readFileSync } from "node:fs";

/** @throws Error: the file is no private key of Ed25519 in PEM */
export function readSigningKey(path: string): KeyObject {
  const key = createPrivateKey(readFileSync(path));
  if (key.asymmetricKeyType !== "ed25519") throw new Error(`${path}: a key of type ${key.asymmetricKeyType}, and Ed25519 is needed`);
  return key;
}

/** What `openssl pkeyutl -verify -rawin -sigfile` takes. */
export const detachedSignature = (key: KeyObject, content: Buffer): Buffer => sign(null, content, key);

/** The SHA-256 of the public key, as DER. */
export function keyId(key: KeyObject): string {
  const der = createPublicKey(key).export({ type: "spki", format: "der" });
  return createHash("sha256").update(der).digest("hex");
}

const PAYLOAD_TYPE = "application/vnd.in-toto+json";

/** What is signed of a payload (https://github.com/secure-systems-lab/dsse/blob/master/protocol.md). */
export function preAuthentication(payload: Buffer, type = PAYLOAD_TYPE): Buffer {
  return Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload]);
}

export interface Envelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly Readonly<{ keyid: string; sig: string }>[];
}

/** An in-toto statement in an envelope of DSSE, as verifiers of provenance take it. */
export function envelope(key: KeyObject, statement: Buffer): Envelope {
  const signature = sign(null, preAuthentication(statement), key).toString("base64");
  return { payloadType: PAYLOAD_TYPE, payload: statement.toString("base64"), signatures: [{ keyid: keyId(key), sig: signature }] };
}
