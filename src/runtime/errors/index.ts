export { CATALOGUE, type ErrorCode, WORDS } from "./catalogue.ts";
export { type ErrorDetails, RuntError } from "./error.ts";
export { messageLine, printable, printableLines } from "./printable.ts";
