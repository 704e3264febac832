import { z } from "zod";
import { documentOf } from "../http/openapi.ts";
import { jsonRoute, type Route } from "../http/route.ts";
import { VERSION } from "../version.ts";

/** The request that answers with the OpenAPI document of all routes, itself included. */
export function describing(routes: readonly Route[]): Route {
  let document: ReturnType<typeof documentOf> | undefined;
  const self: Route = jsonRoute({
    method: "get",
    path: "/v1/openapi.json",
    operation: "getInterface",
    access: "read",
    summary: "This interface, as OpenAPI 3.1",
    answer: { status: 200, description: "The document", schema: z.record(z.string(), z.unknown()) },
    handle() {
      document ??= documentOf([...routes, self], VERSION);
      return { ...document };
    },
  });
  return self;
}
