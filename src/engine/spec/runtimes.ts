/** Names of runtimes, which the operator of a host maps to programs. */

/** As Kubernetes has the names of runtime classes: a DNS subdomain. */
export const RUNTIME_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Why a task that names this runtime is refused; undefined: the host has it. */
export function unknownRuntime(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  const others = known.length === 0 ? "it has none (runtd --runtime-class)" : `it has ${[...known].sort().join(", ")}`;
  return `this host has no runtime ${name}: ${others}`;
}
