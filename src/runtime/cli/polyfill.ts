/** What bundled libraries expect of a JavaScript engine and QuickJS does not have. Imported first by the program. */
interface Polyfilled {
  queueMicrotask?: (job: () => void) => void;
}

const scope = globalThis as Polyfilled;
const errors = Error as { captureStackTrace?: (target: object) => void };

// V8's own: commander calls it in the constructor of its error class. The stack is there without it.
errors.captureStackTrace ??= () => undefined;
scope.queueMicrotask ??= (job) => {
  void Promise.resolve().then(job);
};
