/** Names of capabilities as Kubernetes and Compose accept them: upper or lower case, with or without "CAP_". Source: containerd, pkg/cap. */
import { CAPABILITIES } from "../shared/linux/index.ts";

/** The name with "CAP_". ALL stays as it is. */
export function capabilityName(written: string): string {
  const name = written.toUpperCase();
  return name === "ALL" || name.startsWith("CAP_") ? name : `CAP_${name}`;
}

/** The capabilities to add. ALL stands for every capability. */
export function addedCapabilities(written: readonly string[]): string[] {
  return [...new Set(written.map(capabilityName).flatMap((name) => (name === "ALL" ? [...CAPABILITIES] : [name])))];
}
