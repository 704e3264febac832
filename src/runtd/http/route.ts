/** One request of the interface: what it takes, what it answers, and what it does. The OpenAPI document is made of the same schemas. */
import type { Context } from "hono";
import type { z } from "zod";
import type { Caller } from "../../engine/index.ts";
import type { FrameStream } from "../streams/frame-stream.ts";
import type { ErrorCode } from "./errors.ts";
import type { Services } from "./services.ts";

export type Method = "get" | "post" | "put" | "delete";

/** A request whose parts have passed their schemas. */
export interface Asked<P, Q, B> extends Services {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Of a change: who has connected. undefined: the kernel would not say. */
  readonly caller: Caller | undefined;
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
  /** Its name in clients that are made of the document: "deleteTask". */
  readonly operation: string;
  /** A sentence without a full stop. */
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

/** The connection is upgraded, and carries frames (shared/frames) from then on. */
export interface StreamRoute<P extends z.ZodObject<Part>, Q extends z.ZodObject<Part>> extends Request<P, Q, z.ZodUndefined> {
  readonly method: "get";
  readonly access: "admin";
  readonly answer: { readonly status: 101; readonly description: string };
  /** Looks at the request before it is answered; what it returns begins when the connection is upgraded. Throws as `handle`. */
  readonly open: (asked: Omit<Asked<z.output<P>, z.output<Q>, undefined>, "context" | "body">) => (stream: FrameStream) => Promise<void>;
}

type AnyObject = z.ZodObject<Part>;
export type Route = JsonRoute<AnyObject, AnyObject, z.ZodType, z.ZodType> | TextRoute<AnyObject, AnyObject, z.ZodType> | AnyStreamRoute;
export type AnyStreamRoute = StreamRoute<AnyObject, AnyObject>;

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

export function streamRoute<P extends AnyObject, Q extends AnyObject>(route: StreamRoute<P, Q>): Route {
  return route as unknown as Route;
}
