/** Forms of before version 1.0 of the specification that are still taken. */

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
