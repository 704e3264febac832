/** One request of the interface: what it takes, what it answers, and what it does. The OpenAPI document is made of the same schemas. */
import type { Context } from "hono";
import type { z } from "zod";
import type { Engine } from "../../engine/index.ts";
import type { ErrorCode } from "./errors.ts";

export type Method = "get" | "post" | "put" | "delete";

/** A request whose parts have passed their schemas. */
export interface Asked<P, Q, B> {
  readonly engine: Engine;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** For what the schemas do not say: headers, the stream itself. */
  readonly context: Context;
}

interface Part {
  readonly [name: string]: z.ZodType;
}

interface Request<P extends z.ZodObject<Part>, Q extends z.ZodObject<Part>, B extends z.ZodType> {
  readonly method: Method;
  /** As OpenAPI writes it: "/v1/tasks/{name}". */
  readonly path: string;
  /** admin: it changes something, and is on admin.sock only. */
  readonly access: "read" | "admin";
  /** A sentence without a full stop; unique. */
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  /** JSON. */
  readonly body?: B;
  /** What it may answer besides, and the errors that every request may get. */
  readonly errors?: readonly ErrorCode[];
}

/** Nobody changes an answer. */
type Fixed<T> = T extends object ? { readonly [K in keyof T]: Fixed<T[K]> } : T;

/** Its answer is one JSON value. */
export interface JsonRoute<P extends z.ZodObject<Part>, Q extends z.ZodObject<Part>, B extends z.ZodType, A extends z.ZodType>
  extends Request<P, Q, B> {
  readonly answer: { readonly status: 200 | 202; readonly description: string; readonly schema: A };
  readonly handle: (asked: Asked<z.output<P>, z.output<Q>, z.output<B>>) => Fixed<z.input<A>> | Promise<Fixed<z.input<A>>>;
}

/** Its answer is text, or goes on. */
export interface TextRoute<P extends z.ZodObject<Part>, Q extends z.ZodObject<Part>, B extends z.ZodType> extends Request<P, Q, B> {
  readonly answer: { readonly status: 200; readonly description: string; readonly type: string };
  readonly respond: (asked: Asked<z.output<P>, z.output<Q>, z.output<B>>) => Response | Promise<Response>;
}

type AnyObject = z.ZodObject<Part>;
export type Route = JsonRoute<AnyObject, AnyObject, z.ZodType, z.ZodType> | TextRoute<AnyObject, AnyObject, z.ZodType>;

/** The types of a route are checked here; a table of routes holds them without. */
export function jsonRoute<
  A extends z.ZodType,
  P extends AnyObject = z.ZodObject<Record<never, never>>,
  Q extends AnyObject = z.ZodObject<Record<never, never>>,
  B extends z.ZodType = z.ZodUndefined,
>(route: JsonRoute<P, Q, B, A>): Route {
  return route as unknown as Route;
}

export function textRoute<
  P extends AnyObject = z.ZodObject<Record<never, never>>,
  Q extends AnyObject = z.ZodObject<Record<never, never>>,
  B extends z.ZodType = z.ZodUndefined,
>(route: TextRoute<P, Q, B>): Route {
  return route as unknown as Route;
}
