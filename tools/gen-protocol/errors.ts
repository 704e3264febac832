/** The errors of src/shared/linux/errors.ts as lists of X(NUMBER, TEXT). */
import { ERRORS, HELPER_ERRORS } from "../../src/shared/linux/errors.ts";
import { header } from "./c.ts";

type Name = keyof typeof ERRORS;

const list = (name: string, errors: readonly Name[]): string =>
  `#define ${name}(X)${errors.map((error) => ` \\\n  X(${error}, "${ERRORS[error]}")`).join("")}\n`;

export function errorsHeader(): string {
  return header("errors", list("ERRORS", Object.keys(ERRORS) as Name[]), list("HELPER_ERRORS", HELPER_ERRORS));
}
