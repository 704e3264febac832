export { CATALOGUE, type ErrorCode } from "./catalogue.ts";
export { RuntError, type ErrorDetails } from "./error.ts";
export { WORDS } from "./words.ts";
