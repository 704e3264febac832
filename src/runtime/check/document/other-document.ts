/** Documents that people take for config.json, by the fields that only they have. Pure. */
import type { JsonValue } from "../../spec/index.ts";

interface Kind {
  readonly what: string;
  /** All of them are there. */
  readonly fields: readonly string[];
  readonly remedy: string;
}

const BUNDLE = "name the bundle's config.json instead";

const KINDS: readonly Kind[] = [
  {
    what: "the output of podman inspect or docker inspect",
    fields: ["Id", "HostConfig"],
    remedy: "the bundle's config.json is where OCIConfigPath points to (Podman), or below the engine's state directory",
  },
  { what: "a container of the Container Runtime Interface (crictl)", fields: ["metadata", "image"], remedy: BUNDLE },
  { what: "a pod of the Container Runtime Interface (crictl)", fields: ["metadata", "log_directory"], remedy: BUNDLE },
  { what: "an object of Kubernetes", fields: ["apiVersion", "kind"], remedy: BUNDLE },
  { what: "the manifest or the index of an image", fields: ["schemaVersion", "mediaType"], remedy: BUNDLE },
  { what: "the configuration of an image", fields: ["architecture", "os", "rootfs"], remedy: BUNDLE },
  { what: "a Compose file", fields: ["services"], remedy: BUNDLE },
];

/** undefined: nothing says that it is not config.json. inspect prints a list of one. */
export function otherDocument(value: JsonValue): Kind | undefined {
  const [document = null] = Array.isArray(value) ? value : [value];
  if (typeof document !== "object" || document === null || Array.isArray(document) || "ociVersion" in document) return undefined;
  return KINDS.find(({ fields }) => fields.every((field) => Object.hasOwn(document, field)));
}
