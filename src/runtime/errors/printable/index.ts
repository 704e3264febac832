/** Texts that are safe to print: a successful verb that prints nothing does without them. */
export { messageLine, printable, printableLines } from "./printable.ts";
