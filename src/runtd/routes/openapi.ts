import { z } from "zod";
import { createDocument, type ZodOpenApiPathsObject, type ZodOpenApiResponsesObject } from "zod-openapi";
import { type ErrorCode, statusOf } from "../http/errors.ts";
import { jsonRoute, type Route } from "../http/route.ts";
import { engineEvent, gapEvent } from "../schemas/event.ts";
import { poolRunEnd, poolRunStart } from "../schemas/pool.ts";
import { streamStart } from "../schemas/stream.ts";
import { VERSION } from "../version.ts";

/** The request that answers with the OpenAPI document of all routes, itself included. */
export function describing(routes: readonly Route[]): Route {
  let document: ReturnType<typeof documentOf> | undefined;
  const self: Route = jsonRoute({
    method: "get",
    path: "/v1/openapi.json",
    operation: "getInterface",
    access: "read",
    summary: "This API as an OpenAPI 3.1 document",
    answer: { status: 200, description: "The document", schema: z.record(z.string(), z.unknown()) },
    handle() {
      document ??= documentOf([...routes, self], VERSION);
      return { ...document };
    },
  });
  return self;
}

/** Generates the OpenAPI document from the routes and their schemas. */
const errorBody = z
  .looseObject({ code: z.string().describe("A stable code for programs."), message: z.string().describe("A message for people.") })
  .meta({ id: "Error", description: "The reason for the error. Additional fields have the details." });

/** Error responses that every request may get. */
const COMMON: readonly ErrorCode[] = ["invalid-argument", "internal"];
/** Error responses of requests for changes on the read-only socket. */
const CHANGES: readonly ErrorCode[] = ["read-only"];

function documentOf(routes: readonly Route[], version: string): ReturnType<typeof createDocument> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const { method, path, operation, access, summary, description, params, query, body } = route;
    paths[path] ??= {};
    paths[path][method] = {
      operationId: operation,
      summary,
      ...(description === undefined ? {} : { description }),
      "x-socket": access === "admin" ? ["admin.sock"] : ["admin.sock", "read.sock"],
      requestParams: { ...(params && { path: params }), ...(query && { query }) },
      ...(body && { requestBody: { required: true, content: { "application/json": { schema: body } } } }),
      responses: responsesOf(route),
    };
  }
  return createDocument({
    openapi: "3.1.0",
    info: {
      title: "runtd",
      version,
      description:
        "JSON over HTTP on the unix sockets admin.sock and read.sock. The data of server-sent events has the schemas Event and Gap.",
    },
    paths: paths as ZodOpenApiPathsObject,
    components: {
      schemas: {
        ...eventSchemas(routes),
        Event: engineEvent,
        Gap: gapEvent,
        StreamStart: streamStart,
        PoolRunStart: poolRunStart,
        PoolRunEnd: poolRunEnd,
      },
    },
  });
}

/** Schemas of the events of streams that have a name of their own. */
function eventSchemas(routes: readonly Route[]): Record<string, z.ZodType> {
  const schemas = routes.flatMap((route) => ("events" in route ? Object.values(route.events ?? {}) : []));
  return Object.fromEntries(schemas.flatMap((schema) => (schema.meta()?.id === undefined ? [] : [[schema.meta()!.id, schema]])));
}

function responsesOf(route: Route): ZodOpenApiResponsesObject {
  const { answer, errors = [], access } = route;
  const success =
    answer.status === 101
      ? { description: answer.description }
      : "schema" in answer
        ? { description: answer.description, content: { "application/json": { schema: answer.schema } } }
        : { description: answer.description, content: { [answer.type]: { schema: z.string() } } };
  const responses: Record<string, unknown> = { [answer.status]: success };
  for (const code of [...COMMON, ...(access === "admin" ? CHANGES : []), ...errors]) {
    const status = statusOf(code);
    const codes = [...((responses[status] as { codes?: string[] } | undefined)?.codes ?? []), code];
    responses[status] = { codes, description: codes.join(", "), content: { "application/json": { schema: errorBody } } };
  }
  for (const response of Object.values(responses)) delete (response as { codes?: unknown }).codes;
  return responses as ZodOpenApiResponsesObject;
}
