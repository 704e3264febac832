import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import type { Verb } from "../context.ts";
import { print } from "../output.ts";

/** Name on the command line -> name of the embedded text. */
const SCHEMAS: Readonly<Record<string, string>> = {
  config: "schema",
  findings: "schema-findings",
  plan: "schema-plan",
  inspect: "schema-inspect",
  check: "schema-check",
  state: "schema-state",
  gc: "schema-gc",
};

export const verb: Verb = ({ positionals }) => {
  const name = positionals[0] ?? "config";
  const resource = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (resource === undefined) throw new RuntError("usage", `there is no schema "${name}": use ${Object.keys(SCHEMAS).join(", ")}`);
  const schema = host.resource(resource);
  if (schema === undefined) throw new RuntError("internal", `the schema ${resource} is not in this executable`);
  print(schema);
  return 0;
};
