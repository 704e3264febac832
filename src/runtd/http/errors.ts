/** Error responses of the API: a stable code, a message, and details. */
import type { Context } from "hono";
import { EngineError, type EngineErrorCode, StoreError, type StoreErrorCode } from "../../engine/index.ts";
import { factsOf, log } from "../log.ts";
import { LoginError, type LoginErrorCode } from "../registries/errors.ts";

/** Errors of the API itself. */
type OwnErrorCode =
  | "invalid-argument"
  | "read-only"
  | "unknown-path"
  | "body-too-large"
  | "upgrade-required"
  | "too-many"
  | "internal"
  | LoginErrorCode;
export type ErrorCode = OwnErrorCode | EngineErrorCode | StoreErrorCode;
type Status = 400 | 403 | 404 | 409 | 413 | 422 | 426 | 429 | 500 | 503;

const STATUS: Readonly<Record<OwnErrorCode | EngineErrorCode, Status>> = {
  "invalid-argument": 400,
  "read-only": 403,
  "unknown-path": 404,
  "body-too-large": 413,
  "upgrade-required": 426,
  "too-many": 429,
  internal: 500,
  "login-failed": 409,
  "not-logged-in": 404,
  "invalid-spec": 422,
  "unknown-task": 404,
  "unknown-container": 404,
  "container-not-running": 409,
  "no-stdin": 409,
  "no-log": 409,
  "no-room": 409,
  "not-running": 409,
  "unknown-interface": 404,
  "interface-in-use": 409,
  "no-image": 409,
  "images-busy": 409,
  "unknown-pool": 404,
  "pool-unavailable": 409,
  "unknown-volume": 404,
  "volume-in-use": 409,
  "other-origin": 409,
  "unknown-network": 404,
  "unknown-service": 404,
  "unknown-revision": 404,
  "not-scalable": 409,
  "not-rolling": 409,
  "nothing-to-roll-back": 409,
};

/** Errors of the store may be temporary, so that clients may try again. */
const STORE_STATUS: Status = 503;

export function statusOf(code: ErrorCode): Status {
  return (STATUS as Readonly<Record<string, Status>>)[code] ?? STORE_STATUS;
}

export function refuse(context: Context, code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}): Response {
  return context.json({ code, message, ...details }, statusOf(code));
}

/** A part of the request does not match its schema. The message names the part and the rule. */
export class InvalidRequest extends Error {
  override readonly name = "InvalidRequest";
}

/** The client or all clients together ask for more at once than the daemon allows. */
export class TooManyRequests extends Error {
  override readonly name = "TooManyRequests";
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Converts a thrown value to a response. Only unexpected errors are logged. */
export function errorOf(error: unknown): Refusal {
  if (error instanceof EngineError || error instanceof StoreError || error instanceof LoginError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof InvalidRequest) return { code: "invalid-argument", message };
  if (error instanceof TooManyRequests) return { code: "too-many", message };
  log("error", "request-failed", factsOf(error));
  return { code: "internal", message };
}

export function refusalOf(error: unknown, context: Context): Response {
  const { code, message, details } = errorOf(error);
  return refuse(context, code, message, details);
}
