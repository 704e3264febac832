/** Names of capabilities, as Kubernetes and Compose take them: in any case, with or without "CAP_". Source: containerd, pkg/cap. */
import { CAPABILITIES } from "../shared/linux/index.ts";

/** ALL stays as it is. */
export function capabilityName(written: string): string {
  const name = written.toUpperCase();
  return name === "ALL" || name.startsWith("CAP_") ? name : `CAP_${name}`;
}

/** Those that are added, where ALL is each of them. */
export function addedCapabilities(written: readonly string[]): string[] {
  return [...new Set(written.map(capabilityName).flatMap((name) => (name === "ALL" ? [...CAPABILITIES] : [name])))];
}
