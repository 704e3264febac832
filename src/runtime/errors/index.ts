export { CATALOGUE, type ErrorCode } from "./catalogue.ts";
export { type ErrorDetails, RuntError } from "./error.ts";
export { messageLine, printable, printableLines } from "./printable.ts";
export { WORDS } from "./words.ts";
