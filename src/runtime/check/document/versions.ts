import { type JsonValue, OCI_VERSION_MAX, pointerToken } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** Fields by the version of the specification that brought them (its JSON schemas, tag by tag); `*` stands for any entry. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "1.0.1": ["/linux/intelRdt"],
  "1.0.2": [
    ...["/hooks/createRuntime", "/hooks/createContainer", "/hooks/startContainer"],
    ...["/linux/intelRdt/closID", "/linux/intelRdt/memBwSchema", "/linux/personality", "/linux/resources/rdma", "/linux/seccomp/flags"],
    ...["/linux/resources/memory/useHierarchy", "/process/commandLine", "/process/user/umask"],
  ],
  "1.1.0": [
    ...["/domainname", "/linux/timeOffsets", "/linux/resources/unified", "/linux/resources/cpu/burst", "/linux/resources/cpu/idle"],
    ...["/linux/intelRdt/enableCMT", "/linux/intelRdt/enableMBM", "/linux/resources/memory/checkBeforeUpdate"],
    ...[
      "/linux/seccomp/defaultErrnoRet",
      "/linux/seccomp/listenerPath",
      "/linux/seccomp/listenerMetadata",
      "/linux/seccomp/syscalls/*/errnoRet",
    ],
    ...["/mounts/*/uidMappings", "/mounts/*/gidMappings", "/process/ioPriority", "/process/scheduler"],
  ],
  "1.2.1": ["/process/execCPUAffinity"],
  "1.3.0": ["/linux/intelRdt/schemata", "/linux/intelRdt/enableMonitoring", "/linux/memoryPolicy", "/linux/netDevices"],
};

type Version = readonly [major: number, minor: number, patch: number];

function parse(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.split(/[-+]/, 1)[0]?.split(".").map(Number) ?? [];
  return [major, minor, patch];
}

function isOlder(a: Version, b: Version): boolean {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at !== -1 && a[at]! < b[at]!;
}

/** config, specification version: a runtime of that version does not know the field. */
export const newerFields: Check = (spec, report) => {
  const { ociVersion } = spec;
  // Between two versions it is unknown which fields existed.
  if (!/^\d+\.\d+\.\d+/.test(ociVersion) || /dev/.test(ociVersion)) return;
  const declared = parse(ociVersion);
  for (const [version, paths] of Object.entries(FIELDS)) {
    if (!isOlder(declared, parse(version))) continue;
    for (const path of paths) {
      const found: string[] = [];
      given(spec, path.split("/"), 1, "", found);
      for (const pointer of found)
        report.warning(
          "field-newer",
          pointer,
          `the field came with version ${version} of the specification, ociVersion says ${ociVersion}`,
          `set ociVersion to ${version} or newer (up to ${OCI_VERSION_MAX})`,
        );
    }
  }
};

/** Adds the pointers of the members that exist on a path. A list may be long, and most entries lack them. */
function given(value: unknown, tokens: readonly string[], at: number, pointer: string, found: string[]): void {
  if (value === null || value === undefined) return;
  const token = tokens[at];
  if (token === undefined) found.push(pointer);
  else if (typeof value !== "object") return;
  else if (token !== "*") {
    const member = Object.hasOwn(value, token) ? (value as Record<string, unknown>)[token] : undefined;
    if (member !== undefined) given(member, tokens, at + 1, `${pointer}/${pointerToken(token)}`, found);
  } else if (Array.isArray(value)) {
    const next = tokens[at + 1] ?? "";
    for (let index = 0; index < value.length; index++) {
      const item = value[index];
      if (item?.[next] !== undefined) given(item, tokens, at + 1, `${pointer}/${index}`, found);
    }
  }
}

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

/**
 * Documents that people take for config.json, by the fields that only they have. Pure. undefined:
 * nothing says that it is not config.json. inspect prints a list of one.
 */
export function otherDocument(value: JsonValue): Kind | undefined {
  const [document = null] = Array.isArray(value) ? value : [value];
  if (typeof document !== "object" || document === null || Array.isArray(document) || "ociVersion" in document) return undefined;
  return KINDS.find(({ fields }) => fields.every((field) => Object.hasOwn(document, field)));
}
