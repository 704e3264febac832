/** A route of the API: the schemas of its request and response, and its handler. The OpenAPI document is generated from the same schemas. */
import type { Context } from "hono";
import type { z } from "zod";
import type { Caller } from "../../engine/index.ts";
import { cut } from "../../shared/text/index.ts";
import type { FrameStream } from "../streams/frame-stream.ts";
import { type ErrorCode, InvalidRequest } from "./errors.ts";
import type { Services } from "./services.ts";

export type Method = "get" | "post" | "put" | "delete";

/** A request whose parts have passed their schemas. */
export interface ValidRequest<P, Q, B> extends Services {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /**
   * Credentials of the peer, which a child process reads; undefined: they are unknown. They are needed to record a change, and when a socket has
   * many readers.
   */
  readonly caller: () => Promise<Caller | undefined>;
  /** The raw request, for headers and the stream. */
  readonly context: Context;
}

interface Part {
  readonly [name: string]: z.ZodType;
}

interface Request<P extends z.ZodObject<Part>, Q extends z.ZodObject<Part>, B extends z.ZodType> {
  readonly method: Method;
  /** Path in the notation of OpenAPI: "/v1/tasks/{name}". */
  readonly path: string;
  /** "admin": the request changes something, so only admin.sock has it. */
  readonly access: "read" | "admin";
  /** The operationId, which generated clients use as the name: "deleteTask". */
  readonly operation: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  /** Schema of the JSON body. */
  readonly body?: B;
  /** Errors of this route, in addition to those that every request may get. */
  readonly errors?: readonly ErrorCode[];
}

/** A type that is read-only at every depth, because handlers must not change responses. */
type Fixed<T> = T extends object ? { readonly [K in keyof T]: Fixed<T[K]> } : T;

/** A route whose response is one JSON value. */
export interface JsonRoute<P extends z.ZodObject<Part>, Q extends z.ZodObject<Part>, B extends z.ZodType, A extends z.ZodType>
  extends Request<P, Q, B> {
  readonly answer: { readonly status: 200 | 202; readonly description: string; readonly schema: A };
  readonly handle: (asked: ValidRequest<z.output<P>, z.output<Q>, z.output<B>>) => Fixed<z.input<A>> | Promise<Fixed<z.input<A>>>;
}

/** A route whose response is text or a stream. */
export interface TextRoute<P extends z.ZodObject<Part>, Q extends z.ZodObject<Part>, B extends z.ZodType> extends Request<P, Q, B> {
  readonly answer: { readonly status: 200; readonly description: string; readonly type: string };
  /** Schemas of the data of its server-sent events, by the name of the event. `error` has the body of an error response. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
  readonly respond: (asked: ValidRequest<z.output<P>, z.output<Q>, z.output<B>>) => Response | Promise<Response>;
}

/** A route that upgrades the connection, which carries frames afterwards (shared/frames). */
export interface StreamRoute<P extends z.ZodObject<Part>, Q extends z.ZodObject<Part>> extends Request<P, Q, z.ZodUndefined> {
  readonly method: "get" | "post";
  readonly access: "admin";
  readonly answer: { readonly status: 101; readonly description: string };
  /** Checks the request before the response. The returned function runs after the connection was upgraded. Throws like `handle`. */
  readonly open: (
    asked: Omit<ValidRequest<z.output<P>, z.output<Q>, undefined>, "context" | "body">,
  ) => (stream: FrameStream) => Promise<void>;
}

type AnyObject = z.ZodObject<Part>;
export type Route = JsonRoute<AnyObject, AnyObject, z.ZodType, z.ZodType> | TextRoute<AnyObject, AnyObject, z.ZodType> | AnyStreamRoute;
export type AnyStreamRoute = StreamRoute<AnyObject, AnyObject>;

/** Checks the types of a route and returns it without them, as an entry of the table. */
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

/** Maximum number of problems that are reported. */
const MOST_PROBLEMS = 20;

interface Parts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
}

/** @throws InvalidRequest */
export function validated(route: Route, { params, query, body }: Parts): Required<Parts> {
  const problems: string[] = [];
  const read = (part: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    const { data, error } = schema?.safeParse(value) ?? {};
    for (const { path, message } of error?.issues.slice(0, MOST_PROBLEMS) ?? [])
      problems.push(cut(`${[part, ...path].join(".")}: ${message}`));
    return data;
  };
  const parts = {
    params: read("path", route.params, params),
    query: read("query", route.query, query),
    body: read("body", route.body, body),
  };
  if (problems.length > 0) throw new InvalidRequest(problems.slice(0, MOST_PROBLEMS).join("; "));
  return parts;
}
