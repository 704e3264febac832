/** What the files of the client on Node evaluate to (tools/bundle-client.ts): a function with a whole program in it, which gets what a module would have. */

/** @param load what client.js leaves to parsers.js. Returns what the program exports */
export type Program = (require: NodeJS.Require, load: (() => Promise<unknown>) | undefined, url: string) => unknown;
