export { parseAccounts } from "./accounts.ts";
export { exactJson, parseExactJson } from "./exact-json.ts";
export { decodeUtf8, encodeUtf8, writeAscii } from "./utf8.ts";
