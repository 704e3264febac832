/** A document of SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/), in its JSON form. */
import type { Component } from "./component.ts";

export interface Program {
  readonly version: string;
  readonly commit: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly sha1: string;
  readonly sha256: string;
}

export interface SpdxChecksum {
  readonly algorithm: string;
  readonly checksumValue: string;
}

export interface SpdxPackage {
  readonly SPDXID: string;
  readonly name: string;
  readonly versionInfo?: string;
  readonly packageFileName?: string;
  readonly originator?: string;
  readonly supplier: string;
  readonly downloadLocation: string;
  readonly filesAnalyzed: boolean;
  readonly checksums?: readonly SpdxChecksum[];
  readonly licenseConcluded: string;
  readonly licenseDeclared: string;
  readonly copyrightText: string;
  readonly comment?: string;
  readonly primaryPackagePurpose: string;
  readonly externalRefs?: readonly {
    readonly referenceCategory: string;
    readonly referenceType: string;
    readonly referenceLocator: string;
  }[];
}

export interface SpdxDocument {
  readonly spdxVersion: string;
  readonly dataLicense: string;
  readonly SPDXID: string;
  readonly name: string;
  readonly documentNamespace: string;
  readonly creationInfo: { readonly created: string; readonly creators: readonly string[] };
  readonly packages: readonly SpdxPackage[];
  readonly files: readonly {
    readonly SPDXID: string;
    readonly fileName: string;
    readonly fileTypes: readonly string[];
    readonly checksums: readonly SpdxChecksum[];
    readonly licenseConcluded: string;
    readonly copyrightText: string;
  }[];
  readonly relationships: readonly {
    readonly spdxElementId: string;
    readonly relationshipType: string;
    readonly relatedSpdxElement: string;
  }[];
}

const DOCUMENT = "SPDXRef-DOCUMENT";
const RUNT = "SPDXRef-Package-runt";
const BINARY = "SPDXRef-File-runt";

const identifier = (name: string): string => `SPDXRef-Package-${name.replace(/[^A-Za-z0-9.-]+/g, "-")}`;

/** The same program gives the same document: nothing in it is random or depends on the time. */
export function spdxDocument(program: Program, components: readonly Component[]): SpdxDocument {
  const sorted = [...components].sort((a, b) => (a.name < b.name ? -1 : 1));
  const licenses = [...new Set(["Apache-2.0", ...sorted.map(({ license }) => license)])].map((license) =>
    license.includes(" ") ? `(${license})` : license,
  );
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: DOCUMENT,
    name: `runt-${program.version}`,
    documentNamespace: `https://spdx.org/spdxdocs/runt-${program.version}-${program.sha256}`,
    creationInfo: {
      created: new Date(program.time * 1000).toISOString().replace(/\.\d+Z$/, "Z"),
      creators: [`Tool: runt-sbom-${program.version}`],
    },
    packages: [
      {
        SPDXID: RUNT,
        name: "runt",
        versionInfo: program.commit === "" ? program.version : `${program.version} (commit ${program.commit})`,
        supplier: "NOASSERTION",
        downloadLocation: "NOASSERTION",
        filesAnalyzed: false,
        licenseConcluded: licenses.join(" AND "),
        licenseDeclared: "Apache-2.0",
        copyrightText: "Copyright the authors of runt",
        primaryPackagePurpose: "APPLICATION",
      },
      ...sorted.map(spdxPackage),
    ],
    files: [
      {
        SPDXID: BINARY,
        fileName: "./bin/runt",
        fileTypes: ["BINARY"],
        checksums: [
          { algorithm: "SHA1", checksumValue: program.sha1 },
          { algorithm: "SHA256", checksumValue: program.sha256 },
        ],
        licenseConcluded: licenses.join(" AND "),
        copyrightText: "NOASSERTION",
      },
    ],
    relationships: [
      { spdxElementId: DOCUMENT, relationshipType: "DESCRIBES", relatedSpdxElement: RUNT },
      { spdxElementId: RUNT, relationshipType: "CONTAINS", relatedSpdxElement: BINARY },
      ...sorted.map(({ name, how }) => ({ spdxElementId: BINARY, relationshipType: how, relatedSpdxElement: identifier(name) })),
    ],
  };
}

function spdxPackage(component: Component): SpdxPackage {
  const { name, version, file, originator, checksum, license, copyright, parts, purl } = component;
  return {
    SPDXID: identifier(name),
    name,
    ...(version === undefined ? {} : { versionInfo: version }),
    packageFileName: file,
    originator,
    supplier: "NOASSERTION",
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    checksums: [{ algorithm: checksum.algorithm, checksumValue: checksum.value }],
    licenseConcluded: license,
    licenseDeclared: license,
    copyrightText: copyright,
    comment: `In the program: ${parts.join(" ")}`,
    primaryPackagePurpose: "LIBRARY",
    ...(purl === undefined
      ? {}
      : { externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }] }),
  };
}
