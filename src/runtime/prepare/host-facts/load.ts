/** `--host live|none|FILE`. */
import validate from "../../../../build/gen/validate-host-facts.js";
import { HOST_FACTS_VERSION, type HostFacts } from "../../check/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { type JsonValue, parseJson } from "../../spec/index.ts";
import { NO_HOST } from "./none.ts";

/**
 * The facts that a value of --host other than "live" names.
 * @throws RuntError host-facts for a file that does not hold any
 */
export function chosenHostFacts(value: string): HostFacts {
  return value === "none" ? NO_HOST : readHostFacts(value);
}

function readHostFacts(path: string): HostFacts {
  const value = parse(path);
  const version = typeof value === "object" && value !== null && !Array.isArray(value) ? value["hostFacts"] : undefined;
  if (version === undefined) throw unfit(path, "not a document of host facts");
  if (version !== HOST_FACTS_VERSION) throw unfit(path, `version ${String(version)} of the document, ${HOST_FACTS_VERSION} is known`);
  if (validate(value)) return value as unknown as HostFacts;
  const { instancePath = "", params } = validate.errors?.[0] ?? {};
  const missing = params?.missingProperty;
  throw unfit(
    path,
    missing === undefined ? `${instancePath}: not what is expected there` : `${instancePath}/${missing}: required but missing`,
  );
}

function parse(path: string): JsonValue {
  let text: string;
  try {
    text = host.readFile(path);
  } catch (error) {
    throw new RuntError("host-facts", `open ${path}: ${host.reason(error)}`, { cause: error });
  }
  try {
    return parseJson(text, { file: path });
  } catch (error) {
    throw new RuntError("host-facts", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function unfit(path: string, reason: string): RuntError {
  return new RuntError("host-facts", `${path}: ${reason}`, { hint: "runt check -f json > FILE writes one" });
}
