/** Translates the `build` of a service to a request for the engine's builder. Source: Compose Build specification. */
import { type ImageBuildInput, isRemoteContext, parseReference } from "../../engine/spec/index.ts";
import { GAP, withoutGaps } from "../image-name.ts";
import { contentOf } from "./contents.ts";
import { pairsOf } from "./fields.ts";
import { hostsOf } from "./networks.ts";
import { hostPath } from "./paths.ts";
import type { ServicePlace } from "./place.ts";
import { bytesOf } from "./quantity.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

/** When the image is built, and when an existing one or that of a registry is used. Source: Compose specification, "pull_policy". */
export type BuildPolicy = "build" | "always" | "missing" | "never";

/** How the image of one service is built. */
export interface ServiceBuild {
  readonly service: string;
  readonly policy: BuildPolicy;
  /** Whether the file names the image, so that a registry may have it. */
  readonly isNamed: boolean;
  /** Services whose images are needed for this build. */
  readonly after: readonly string[];
  readonly request: ImageBuildInput;
}

/** The full name under which Docker would look for an image, and store one that it has built. */
function builtAs(image: string): string {
  const tag = image.slice(image.lastIndexOf("/") + 1).includes(":") ? image : `${image}:latest`;
  if (/^(?:[^/]*[.:][^/]*|localhost)\//.test(image)) return `docker://${tag}`;
  return image.includes("/") ? `docker://docker.io/${tag}` : `docker://docker.io/library/${tag}`;
}

/** Without `image` the name is PROJECT-SERVICE. Source: compose, pkg/api/api.go, GetImageNameOrDefault. */
function builtName(key: string, { image }: ServiceInput, { environment }: Pick<ServicePlace, "environment">): string {
  return builtAs(image || `${environment["COMPOSE_PROJECT_NAME"] || "project"}-${key}`.toLowerCase());
}

const SERVICE = "service:";
const IMAGE = "docker-image://";

/** undefined: the service is not built. */
export function buildOf(key: string, service: ServiceInput, project: ComposeInput, place: ServicePlace): ServiceBuild | undefined {
  const { build: given, image, pull_policy: policy } = service;
  if (given === undefined || service["x-runt-rootfs"] !== undefined) return undefined;
  const at = (...path: readonly (string | number)[]) => ["build", ...path];
  const refuse = (message: string, ...path: readonly (string | number)[]) => place.refuse(message, at(...path));
  const reference = builtName(key, service, place);
  if (parseReference(reference)?.tag === undefined)
    place.refuse(`${image || `the name ${reference}`} is no name of an image that is built: write NAME or NAME:TAG`, ["image"]);
  if (given.dockerfile !== undefined && given.dockerfile_inline !== undefined)
    refuse("takes the place of dockerfile: leave one of both out", "dockerfile_inline");
  checkPlatforms(service, refuse, place);
  tellIgnored(given, place);
  const { contexts, after } = contextsOf(key, service, project, place);
  const context = given.context ?? ".";
  if (isRefused(context)) refuse("is not supported: only directories, and http://, https:// and git:// addresses", "context");
  return {
    service: key,
    policy: policyOf(policy),
    isNamed: Boolean(image),
    after,
    request: {
      reference,
      tags: (given.tags ?? []).map((tag, index) => {
        const whole = withoutGaps(tag);
        if (whole !== tag) place.lacks(GAP, at("tags", index));
        const name = builtAs(whole);
        if (parseReference(name)?.tag === undefined) refuse("is no name of an image: write NAME or NAME:TAG", "tags", index);
        return name;
      }),
      context: isRemoteContext(context) ? context : hostPath(place, context, at("context")),
      ...(given.dockerfile === undefined ? {} : { dockerfile: given.dockerfile }),
      ...(given.dockerfile_inline === undefined ? {} : { inline: given.dockerfile_inline }),
      ...(given.target === undefined ? {} : { target: given.target }),
      args: pairsOf(given.args, place.environment),
      labels: pairsOf(given.labels),
      contexts,
      network: given.network === "bridge" ? "default" : (given.network ?? "default"),
      hosts: addressesOf(given, place),
      ...(given.shm_size === undefined ? {} : { shmSize: bytesOf(given.shm_size) }),
      ulimits: Object.fromEntries(
        Object.entries(given.ulimits ?? {}).map(([name, one]) => [name, typeof one === "number" ? { soft: one, hard: one } : one]),
      ),
      secrets: secretsOf(given.secrets ?? [], project, place),
      ssh: sshOf(given.ssh, place),
      noCache: given.no_cache === true,
      pull: given.pull === true,
    },
  };
}

function policyOf(policy: ServiceInput["pull_policy"]): BuildPolicy {
  if (policy === undefined || policy === "missing" || policy === "if_not_present") return "missing";
  // Policies with a time, such as "daily", count as "always".
  return policy === "build" || policy === "never" ? policy : "always";
}

type Given = NonNullable<ServiceInput["build"]>;
type Refuse = (message: string, ...path: readonly (string | number)[]) => void;

function addressesOf({ extra_hosts }: Given, place: ServicePlace) {
  const refuse: ServicePlace["refuse"] = (message, path) => place.refuse(message, ["build", ...path]);
  const all = hostsOf({ extra_hosts }, { ...place, refuse });
  if (all.some(({ address }) => address === "host-gateway")) refuse("host-gateway is not supported: write the address", ["extra_hosts"]);
  return all;
}

/** Whether buildah cannot fetch the context. Source: compose-go, paths/context.go, isRemoteContext. */
function isRefused(context: string): boolean {
  return !isRemoteContext(context) && (/^(?:ssh:\/\/|git@)/.test(context) || context.includes("://"));
}

/** Additional contexts. "service:NAME" means the image of that service, which is built first. */
function contextsOf(key: string, { build: given }: ServiceInput, project: ComposeInput, place: ServicePlace) {
  const contexts: Record<string, string> = {};
  const after: string[] = [];
  for (const [name, value] of Object.entries(pairsOf(given?.additional_contexts))) {
    const path = ["build", "additional_contexts", ...(Array.isArray(given?.additional_contexts) ? [] : [name])];
    if (!value.startsWith(SERVICE)) {
      if (isRefused(value) && !value.startsWith(IMAGE))
        place.refuse(`is not supported: only directories, ${IMAGE}NAME, ${SERVICE}NAME, and http:// and git:// addresses`, path);
      contexts[name] = isRemoteContext(value) || value.includes("://") ? value : hostPath(place, value, path);
      continue;
    }
    const other = value.slice(SERVICE.length);
    const target = Object.hasOwn(project.services, other) ? project.services[other] : undefined;
    if (target?.build === undefined || other === key) {
      place.refuse(target === undefined ? `there is no service ${other}` : `the image of ${other} is not built before this one`, path);
      continue;
    }
    after.push(other);
    contexts[name] = `${IMAGE}${builtName(other, target, place).slice("docker://".length)}`;
  }
  return { contexts, after };
}

/** Names of platforms that this machine runs, by Node's name of its architecture. Source: OCI image specification, "platform". */
const ARCHITECTURES: Readonly<Record<string, readonly string[]>> = {
  x64: ["amd64", "x86_64", "x86-64"],
  arm64: ["arm64", "arm64/v8", "aarch64"],
};

export function isOwnPlatform(platform: string): boolean {
  const own = ARCHITECTURES[process.arch] ?? [process.arch];
  return ["linux", ...own, ...own.map((one) => `linux/${one}`)].includes(platform.toLowerCase());
}

export function ownPlatform(): string {
  return `linux/${ARCHITECTURES[process.arch]?.[0] ?? process.arch}`;
}

/** Source: compose, pkg/compose/build.go: `up` builds an image for this machine only, also if the list has further platforms. */
function checkPlatforms({ build: given, platform }: ServiceInput, refuse: Refuse, { lacks, warn }: ServicePlace): void {
  const { platforms = [] } = given!;
  const hasOwn = platforms.some(isOwnPlatform);
  for (const [index, one] of platforms.entries()) {
    if (isOwnPlatform(one)) continue;
    if (hasOwn) warn(`has no effect: the image is built for ${ownPlatform()}, which is this machine's`, ["build", "platforms", index]);
    else lacks(`only ${ownPlatform()} is supported: it is this machine's`, ["build", "platforms", index]);
  }
  if (platform !== undefined && platforms.length > 0 && !platforms.includes(platform))
    refuse(`has to name ${platform}, which is the platform of the service`, "platforms");
}

/** Warns about fields that have no effect, because this builder has no such function. */
function tellIgnored(given: Given, { warn }: ServicePlace): void {
  for (const field of ["provenance", "sbom"] as const) {
    const wanted = given[field] !== undefined && String(given[field]) !== "false";
    if (wanted) warn("has no effect: nothing is attested of an image that stays on this host", ["build", field]);
  }
}

function secretsOf(given: NonNullable<Given["secrets"]>, project: ComposeInput, place: ServicePlace): Record<string, string> {
  return Object.fromEntries(
    given.flatMap(({ source, target }, index) => {
      const path = ["build", "secrets", index];
      const content = contentOf("secrets", source, project, place, path);
      if (typeof content === "string") place.refuse(`${content} is a directory, and the secret of a build is a file`, path);
      return content === undefined || typeof content === "string" ? [] : [[target ?? source, content.toString("base64")]];
    }),
  );
}

/** Sockets and keys for SSH by id. `default` is the SSH agent of the user who applies the file. */
function sshOf(given: Given["ssh"], place: ServicePlace): Record<string, string> {
  const all = Array.isArray(given)
    ? given
    : Object.entries(given ?? {}).map(([name, value]) => (value === null ? name : `${name}=${value}`));
  return Object.fromEntries(
    all.map((one) => {
      const [name = "", path] = one.split("=");
      return [
        name,
        path === undefined || path === "" ? (place.environment["SSH_AUTH_SOCK"] ?? "") : hostPath(place, path, ["build", "ssh"]),
      ];
    }),
  );
}

/**
 * For each service the name of its image, if this or another service of the project builds it: as with Docker, services may use images of each
 * other. undefined: the image is not built here.
 */
export function builtNames(
  { services }: ComposeInput,
  active: readonly string[],
  place: Pick<ServicePlace, "environment">,
): (key: string) => string | undefined {
  const isBuilt = (key: string) => services[key]!.build !== undefined && services[key]!["x-runt-rootfs"] === undefined;
  const names = new Set(active.filter(isBuilt).map((key) => builtName(key, services[key]!, place)));
  return (key) => {
    const { image, pull_policy: policy } = services[key]!;
    const name = isBuilt(key) ? builtName(key, services[key]!, place) : image === undefined ? "" : builtAs(image);
    const isOurs = isBuilt(key) || (policy !== "always" && names.has(name));
    // An invalid name is reported elsewhere.
    return isOurs && parseReference(name) !== undefined ? name : undefined;
  };
}

/** Puts each build after those it depends on. A circular dependency is left in the order of the file. */
export function inOrder(builds: readonly ServiceBuild[]): readonly ServiceBuild[] {
  const placed: ServiceBuild[] = [];
  const add = (one: ServiceBuild, behind: readonly ServiceBuild[]) => {
    if (placed.includes(one) || behind.includes(one)) return;
    for (const name of one.after) {
      const other = builds.find(({ service }) => service === name);
      if (other !== undefined) add(other, [...behind, one]);
    }
    placed.push(one);
  };
  for (const one of builds) add(one, []);
  return placed;
}
