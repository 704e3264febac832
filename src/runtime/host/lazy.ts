/**
 * The module that an `import()` names, at once: `bin/runt` loads modules synchronously and leaves the result on the promise
 * (tools/bundle.ts). For code that only some calls need, on paths that do not wait. Not for Node.
 */
export function loadSync<T>(promise: Promise<T>): T {
  return (promise as Promise<T> & { readonly loaded: T }).loaded;
}
