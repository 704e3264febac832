/** Converts zod's issues about the shape of a value to problems, one for each field. */
import type { z } from "zod";
import type { Problem } from "./finding.ts";

type Issue = z.core.$ZodIssue;

export function shapeProblems(error: z.ZodError): Problem[] {
  return error.issues.flatMap(problemsOf);
}

function problemsOf(issue: Issue): Problem[] {
  const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ code: "shape", message: `the field ${JSON.stringify(key)} is not supported`, path: [...path, key] }));
  }
  if (issue.code === "invalid_key") return [{ code: "shape", message: issue.issues[0]?.message ?? issue.message, path }];
  if (issue.code === "invalid_union") {
    // The alternative of the right type has the most useful message.
    const fitting = issue.errors.find(([first]) => first !== undefined && first.code !== "invalid_type");
    return [{ code: "shape", message: fitting?.[0]?.message ?? "has the wrong type", path }];
  }
  if (issue.code === "invalid_type" && issue.input === undefined) {
    return [{ code: "shape", message: /received undefined/.test(issue.message) ? "is missing" : issue.message, path }];
  }
  return [{ code: "shape", message: issue.message, path }];
}
