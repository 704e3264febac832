/** What commander expects of a JavaScript engine, and QuickJS does not have without the tables of Unicode. */
const errors = Error as { captureStackTrace?: (target: object) => void };
const texts = String.prototype as { localeCompare?: (other: string) => number };

// V8's own: commander calls it in the constructor of its error class. The stack is there without it.
errors.captureStackTrace ??= () => undefined;
// Of names of verbs and options.
texts.localeCompare ??= function (this: string, other: string) {
  return this < other ? -1 : Number(this > other);
};

export {};
