/** Converts image names of Kubernetes and Compose to references of the engine. */
import { type PullPolicy, parseReference } from "../engine/spec/index.ts";

/** Matches names whose first component is a registry. Source: Docker, "docker image tag", "Description". */
const HAS_HOST = /^(?:[^/]*[.:][^/]*|localhost)\//;
const DIGEST = /@sha256:[0-9a-f]{64}$/;
const TAG = /:[^/:@]+$/;

/**
 * A reference of the engine stays the same. A name with a registry refers to that registry; any other name is appended to `prefix`. Without a tag,
 * the tag is `latest`; a digest takes precedence over a tag.
 * @param prefix such as "docker://registry.example/library" or "oci:/srv/images"; undefined: names without a registry have no reference
 * @returns undefined: the name has no registry, and there is no prefix
 */
export function imageReference(name: string, prefix: string | undefined): string | undefined {
  if (parseReference(name) !== undefined) return name;
  const [digest = ""] = DIGEST.exec(name) ?? [];
  const withoutDigest = name.slice(0, name.length - digest.length);
  const full = digest === "" ? (TAG.test(name) ? name : `${name}:latest`) : `${withoutDigest.replace(TAG, "")}${digest}`;
  if (HAS_HOST.test(name)) return `docker://${full}`;
  return prefix === undefined ? undefined : `${prefix.replace(/\/$/, "")}/${full}`;
}

/** The reference of an image in a file of Kubernetes or Compose. @param prefix where names without a registry are; undefined: docker.io */
export function imageOrHub(name: string, prefix: string | undefined): string {
  return imageReference(name, prefix ?? dockerHub(name))!;
}

/** The prefix under which Docker looks for a name without a registry. Source: docker, reference.ParseNormalizedNamed. */
export function dockerHub(name: string): string {
  return name.includes("/") ? "docker://docker.io" : "docker://docker.io/library";
}

/**
 * Puts "unset" in the place of each empty part of a name, for example where a variable has no value, and leaves out what stands before it. A name
 * without such a part is returned unchanged.
 */
export function withoutGaps(name: string): string {
  return name
    .replaceAll(/^(?=[-/:@.]|$)|(?<=\/)(?=[/:@]|$)/g, "unset")
    .replaceAll(/[._-]+(?=[/:@])/g, "")
    .replace(/:$/, "");
}

export const GAP = "has an empty part, as with a variable that is not set";

export type KubernetesPull = "Always" | "IfNotPresent" | "Never";

const POLICIES = { Always: "always", IfNotPresent: "prefer-cached", Never: "never" } as const;

/** Source: Kubernetes, "Images", "Default image pull policy". */
export function pullPolicyOf(given: KubernetesPull | undefined, name: string): PullPolicy {
  if (given !== undefined) return POLICIES[given];
  if (DIGEST.test(name)) return "prefer-cached";
  const [tag = ":latest"] = TAG.exec(name.slice(name.lastIndexOf("/") + 1)) ?? [];
  return tag === ":latest" ? "always" : "prefer-cached";
}
