/** What the interface answers when it does not do what was asked: a code that does not change, a sentence, and the facts. */
import type { Context } from "hono";
import { EngineError, type EngineErrorCode, StoreError, type StoreErrorCode } from "../../engine/index.ts";
import { factsOf, log } from "../log.ts";

/** Errors of the interface itself. */
type OwnErrorCode = "invalid-argument" | "read-only" | "unknown-path" | "body-too-large" | "internal";
export type ErrorCode = OwnErrorCode | EngineErrorCode | StoreErrorCode;
type Status = 400 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 503;

const STATUS: Readonly<Record<OwnErrorCode | EngineErrorCode, Status>> = {
  "invalid-argument": 400,
  "read-only": 403,
  "unknown-path": 404,
  "body-too-large": 413,
  internal: 500,
  "invalid-spec": 422,
  "unknown-task": 404,
  "changed-spec": 409,
  "not-running": 409,
};

/** A store that cannot be read or written may be so again. */
const STORE_STATUS: Status = 503;

export function statusOf(code: ErrorCode): Status {
  return (STATUS as Readonly<Record<string, Status>>)[code] ?? STORE_STATUS;
}

export function refuse(context: Context, code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}): Response {
  return context.json({ code, message, ...details }, statusOf(code));
}

/** The answer for what was thrown. Only what nobody expects is logged. */
export function refusalOf(error: unknown, context: Context): Response {
  if (error instanceof EngineError) return refuse(context, error.code, error.message, error.details);
  if (error instanceof StoreError) return refuse(context, error.code, error.message);
  log("error", "request-failed", { method: context.req.method, path: context.req.path, ...factsOf(error) });
  return refuse(context, "internal", error instanceof Error ? error.message : String(error));
}
