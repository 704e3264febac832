/** Where an image comes from, as a task names it. Pure. */

/** A registry is asked over the network; everything else is of this host. */
export type ImageTransport = "oci" | "oci-archive" | "docker-archive" | "docker";

export interface ImageReference {
  readonly transport: ImageTransport;
  /** Without tag and digest: an absolute path, or HOST/NAME. */
  readonly place: string;
  readonly tag?: string;
  /** "sha256:..." of a manifest; of a registry only. */
  readonly digest?: string;
}

const LONGEST = 4096;
/** The grammar of references to images (distribution/reference): lower case, separated by one of . _ - or two _. */
const COMPONENT = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const HOST =
  "(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\\[[0-9a-fA-F:]+\\])(?::\\d{1,5})?";
const TAG = "\\w[\\w.-]{0,127}";
const DIGEST = "sha256:[0-9a-f]{64}";
const REGISTRY = new RegExp(`^//(${HOST}/${COMPONENT}(?:/${COMPONENT})*)(?::(${TAG}))?(?:@(${DIGEST}))?$`);
/** skopeo takes what follows the last colon of a path for the tag. */
const LOCAL = /^(\/[^:\0]*)(?::([^:\0]+))?$/;

/** undefined: it is no reference that can be used. */
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
  const [, place, tag] = LOCAL.exec(rest) ?? [];
  if (place === undefined || place.split("/").includes("..")) return undefined;
  return { transport, place, ...(tag === undefined ? {} : { tag }) };
}

/** The same image by its content: of a registry by the digest. A place on this host knows no digests. */
export function pinned(reference: ImageReference, digest: string): ImageReference {
  return reference.transport === "docker" ? { transport: "docker", place: reference.place, digest } : reference;
}

/** As skopeo takes it. */
export function renderReference({ transport, place, tag, digest }: ImageReference): string {
  const slashes = transport === "docker" ? "//" : "";
  return `${transport}:${slashes}${place}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}
