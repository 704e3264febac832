export { parseAccounts } from "./accounts.ts";
export { boundedJson } from "./bounded-json.ts";
export { cut, firstIssue } from "./cut.ts";
export { exactJson, parseExactJson } from "./exact-json.ts";
export { decodeUtf8, encodeUtf8, joinBytes, writeAscii } from "./utf8.ts";
export { fieldsOf, isObject } from "./value.ts";
