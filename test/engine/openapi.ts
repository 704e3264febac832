/** Holds answers of the daemon against the document that it gives of itself, or that others have published. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { http } from "./support.ts";

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

export interface Contract {
  readonly document: Document;
  /** "deleteTask 404" for each answer that the document promises, and 101 for upgrades. */
  readonly promised: ReadonlySet<string>;
  /** What is wrong with an answer; undefined: it is as promised. */
  objection(method: string, path: string, status: number, text: string): string | undefined;
  /** What is wrong with an event. */
  eventObjection(data: unknown): string | undefined;
  /** Answers that were held against it. */
  readonly seen: ReadonlySet<string>;
}

export async function contractOf(socket: string): Promise<Contract> {
  return contractIn((await http(socket, "GET", "/v1/openapi.json")).text);
}

/** @param text a document of OpenAPI 3.1, as JSON */
export function contractIn(text: string): Contract {
  const document = JSON.parse(text) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document as object, "api");
  const objectionTo = (pointer: string, value: unknown): string | undefined => {
    const validate = ajv.getSchema(`api#${pointer}`);
    if (validate === undefined) return `the document has no ${pointer}`;
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      operation,
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
    })),
  );
  const seen = new Set<string>();
  return {
    document,
    seen,
    promised: new Set(
      operations.flatMap(({ operation }) => Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`)),
    ),
    objection(method, path, status, text) {
      const found = operations.find((one) => one.method === method.toLowerCase() && one.pattern.test(path.split("?")[0]!));
      if (found === undefined) return status === 404 ? undefined : `${method} ${path} is not in the document`;
      const content = found.operation.responses[status]?.content;
      if (content === undefined) return `${found.operation.operationId} promises no ${status}`;
      seen.add(`${found.operation.operationId} ${status}`);
      if (!("application/json" in content)) return undefined;
      const place = [found.path, found.method, "responses", String(status), "content", "application/json", "schema"];
      return objectionTo(["", "paths", ...place.map((part) => encodeURIComponent(part.replaceAll("/", "~1")))].join("/"), JSON.parse(text));
    },
    eventObjection: (data) => objectionTo("/components/schemas/Event", data),
  };
}
