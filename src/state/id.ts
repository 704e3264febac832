import { RuntError, WORDS } from "../errors/index.ts";

const MAXIMUM_LENGTH = 1024;

/** Letters, digits, `_`, `+`, `-`, `.`; not `.` or `..` (runc's rule, so that ids move between runtimes). */
export function checkId(id: string): void {
  if (!/^[\w+\-.]+$/.test(id) || id === "." || id === ".." || id.length > MAXIMUM_LENGTH) {
    throw new RuntError("id-invalid", `${WORDS.idFormat}: ${JSON.stringify(id)}`, {
      hint: "an id is made of letters, digits, '_', '+', '-' and '.'",
    });
  }
}
