/** Validates the parts of a request with the schemas of its route. */
import type { z } from "zod";
import { InvalidRequest } from "./errors.ts";
import type { Route } from "./route.ts";

/** That are told. */
const MOST_PROBLEMS = 20;

export interface Parts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body?: unknown;
}

/** @throws InvalidRequest */
export function validated(route: Route, { params, query, body }: Parts): Required<Parts> {
  const problems: string[] = [];
  const read = (part: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    const { success, data, error } = schema?.safeParse(value) ?? { success: true };
    if (!success) for (const { path, message } of error!.issues) problems.push(`${[part, ...path].join(".")}: ${message}`);
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
