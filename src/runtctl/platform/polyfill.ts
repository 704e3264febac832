/** Functions that commander needs and that QuickJS lacks when it is built without the Unicode tables. */
const errors = Error as { captureStackTrace?: (target: object) => void };
const texts = String.prototype as { localeCompare?: (other: string) => number };

// A function of V8 that commander calls in the constructor of its error class. QuickJS records stacks without it.
errors.captureStackTrace ??= () => undefined;
// commander sorts names of verbs and options with it.
texts.localeCompare ??= function (this: string, other: string) {
  return this < other ? -1 : Number(this > other);
};

export {};
