/** Parses image references of task files. Pure. */

/** docker: a registry, which is asked over the network. The other transports read a path of this host. */
export type ImageTransport = "oci" | "oci-archive" | "docker-archive" | "docker";

export interface ImageReference {
  readonly transport: ImageTransport;
  /** An absolute path, or HOST/NAME, without tag and digest. */
  readonly place: string;
  readonly tag?: string;
  /** "sha256:..." of a manifest; only for registries. */
  readonly digest?: string;
}

const LONGEST = 4096;
/** Grammar of image references (distribution/reference): lower case, with . _ - or __ as separators. */
const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const HOST =
  "(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[0-9a-fA-F:]+\\])(?::\\d{1,5})?";
const TAG = "\\w[\\w.-]{0,127}";
const DIGEST = "sha256:[0-9a-f]{64}";
const REGISTRY = new RegExp(`^//(${HOST}/${COMPONENT}(?:/${COMPONENT})*)(?::(${TAG}))?(?:@(${DIGEST}))?$`);
/** skopeo reads the text after the last colon of a path as the tag. */
const LOCAL = /^(\/[^:\0]*)(?::([^:\0]+))?$/;
/** In a docker-archive an image has a full name with a tag. The name may begin with a registry and its port, so there may be several colons. */
const IN_ARCHIVE = /^(\/[^:\0]*)(?::([^:\0@]+(?::[^:\0@]+){0,2}))?$/;

/** undefined: the text is no supported reference. */
export function parseReference(text: string): ImageReference | undefined {
  const colon = text.indexOf(":");
  const transport = text.slice(0, colon);
  const rest = text.slice(colon + 1);
  if (colon < 0 || text.length > LONGEST || /\p{Cc}/u.test(text)) return undefined;
  if (transport === "docker") {
    const [, place, tag, digest] = REGISTRY.exec(rest) ?? [];
    if (place === undefined || (tag !== undefined && digest !== undefined)) return undefined;
    return { transport, place, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
  }
  if (transport !== "oci" && transport !== "oci-archive" && transport !== "docker-archive") return undefined;
  const [, place, tag] = (transport === "docker-archive" ? IN_ARCHIVE : LOCAL).exec(rest) ?? [];
  if (place === undefined || place.split("/").includes("..")) return undefined;
  return { transport, place, ...(tag === undefined ? {} : { tag }) };
}

/** The reference that identifies the image by its digest. References to paths of this host stay the same, because they support no digests. */
export function pinned(reference: ImageReference, digest: string): ImageReference {
  return reference.transport === "docker" ? { transport: "docker", place: reference.place, digest } : reference;
}

/** Formats the reference as skopeo expects it. */
export function renderReference({ transport, place, tag, digest }: ImageReference): string {
  const slashes = transport === "docker" ? "//" : "";
  return `${transport}:${slashes}${place}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}
