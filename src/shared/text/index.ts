export { parseAccounts } from "./accounts.ts";
export { decodeUtf8, encodeUtf8 } from "./utf8.ts";
