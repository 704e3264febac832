/** Forms that the specification does not have, or no longer, and that are taken. */

/**
 * process.capabilities was a plain list until 1.0.0-rc4: it fills all five sets. `value` is left as it is; what comes back is either it,
 * or a copy down to that field.
 */
export function flatCapabilities<T>(value: T): { readonly value: T; readonly changed: boolean } {
  const process = (value as { process?: { capabilities?: unknown } | null } | null)?.process;
  const list = process?.capabilities;
  if (!Array.isArray(list)) return { value, changed: false };
  const capabilities = { bounding: list, effective: list, permitted: list, inheritable: list, ambient: list };
  return { value: { ...value, process: { ...process, capabilities } }, changed: true };
}

/**
 * `pagesize` for `pageSize`, in an entry of hugepageLimits: decoders written in Go tell no letters apart, so that configurations have it.
 * It is the one required field that is taken so; the check of page sizes says it. True: the entry has got what it lacked.
 */
export function completePageSize(entry: unknown): boolean {
  const limit = entry as { pagesize?: unknown; pageSize?: unknown };
  if (typeof limit.pagesize !== "string") return false;
  limit.pageSize = limit.pagesize;
  return true;
}
