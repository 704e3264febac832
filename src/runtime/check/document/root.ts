import { OCI_VERSION_MAX } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** Semantic Versioning 2.0.0. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

const [KNOWN_MAJOR, KNOWN_MINOR] = OCI_VERSION_MAX.split(".").map(Number) as [number, number, number];

/** The usual forms, which are the quicker found without a regular expression. */
function isPlain(version: string): boolean {
  const end = version.endsWith("-dev") ? version.length - 4 : version.length;
  return end === 5 && version.startsWith("1.") && version[3] === "." && "0123".includes(version[2]!) && "0123456789".includes(version[4]!);
}

/** config, specification version: SemVer 2.0.0; every 1.x is accepted, a newer one with a warning. */
export const ociVersion: Check = (spec, report) => {
  if (isPlain(spec.ociVersion)) return;
  const match = SEMVER.exec(spec.ociVersion);
  if (match === null) {
    report.error(
      "oci-version-syntax",
      "/ociVersion",
      `ociVersion: "${spec.ociVersion}" is not a semantic version`,
      `use "${OCI_VERSION_MAX}"`,
    );
    return;
  }
  const major = Number(match[1]);
  const minor = Number(match[2]);
  if (major !== KNOWN_MAJOR) {
    report.error("oci-version-unknown", "/ociVersion", `ociVersion: ${spec.ociVersion} is not supported, only ${KNOWN_MAJOR}.x is`);
  } else if (minor > KNOWN_MINOR) {
    report.warning(
      "oci-version-newer",
      "/ociVersion",
      `ociVersion: ${spec.ociVersion} is newer than ${OCI_VERSION_MAX}, what is new in it is not known`,
    );
  }
};

/** config, root: required on Linux, with a path. */
export const rootPath: Check = (spec, report) => {
  if (!spec.root) report.error("root-missing", "/root", "root: required but missing");
  else if (spec.root.path === "") report.error("root-path-empty", "/root/path", "root.path: must not be empty");
};
