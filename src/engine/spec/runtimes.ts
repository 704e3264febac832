/** Names of runtimes, which the operator of a host maps to programs. */

/** A DNS subdomain, like the name of a RuntimeClass of Kubernetes. */
export const RUNTIME_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Whether this program makes virtual machines. The end of its path decides, as it does in the program itself (docs/vm.md).
 * @param program absolute path of a runtime of the host
 */
export function isMachineRuntime(program: string): boolean {
  return program.endsWith("runt-vm");
}

/** The names of the runtimes that make virtual machines. @param runtimes programs by name */
export function machinesOf(runtimes: Readonly<Record<string, string>>): string[] {
  return Object.keys(runtimes).filter((name) => isMachineRuntime(runtimes[name]!));
}

/** Why a task that names this runtime is refused; undefined: the host has it. */
export function unknownRuntime(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  const others = known.length === 0 ? "it has none (runtd --runtime-class)" : `it has ${[...known].sort().join(", ")}`;
  return `this host has no runtime ${name}: ${others}`;
}
