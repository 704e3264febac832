/** Names of images, as Kubernetes and Compose write them -> references of the engine. */
import { type PullPolicy, parseReference } from "../engine/spec/index.ts";

/** The name of an image says its registry when its first part looks like a host. Source: Docker, "docker image tag", "Description". */
const HAS_HOST = /^(?:[^/]*[.:][^/]*|localhost)\//;
const DIGEST = /@sha256:[0-9a-f]{64}$/;
const TAG = /:[^/:@]+$/;

/**
 * A reference of the engine stays as it is; a name with a registry is looked for there, any other one below `prefix`. Without a tag it is the latest, and
 * a digest takes the place of the tag.
 * @param prefix like "docker://registry.example/library" or "oci:/srv/images"; undefined: such names mean nothing
 * @returns undefined: nobody has said where such a name is looked for
 */
export function imageReference(name: string, prefix: string | undefined): string | undefined {
  if (parseReference(name) !== undefined) return name;
  const [digest = ""] = DIGEST.exec(name) ?? [];
  const withoutDigest = name.slice(0, name.length - digest.length);
  const full = digest === "" ? (TAG.test(name) ? name : `${name}:latest`) : `${withoutDigest.replace(TAG, "")}${digest}`;
  if (HAS_HOST.test(name)) return `docker://${full}`;
  return prefix === undefined ? undefined : `${prefix.replace(/\/$/, "")}/${full}`;
}

/** What to write instead of a name that is looked for nowhere. */
export const NO_PREFIX = "names no registry: write HOST/NAME, or say with RUNT_IMAGES where such names are looked for";

export type KubernetesPull = "Always" | "IfNotPresent" | "Never";

const POLICIES = { Always: "always", IfNotPresent: "prefer-cached", Never: "never" } as const;

/** Source: Kubernetes, "Images", "Default image pull policy". */
export function pullPolicyOf(given: KubernetesPull | undefined, name: string): PullPolicy {
  if (given !== undefined) return POLICIES[given];
  if (DIGEST.test(name)) return "prefer-cached";
  const [tag = ":latest"] = TAG.exec(name.slice(name.lastIndexOf("/") + 1)) ?? [];
  return tag === ":latest" ? "always" : "prefer-cached";
}
