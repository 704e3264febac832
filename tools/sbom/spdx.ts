/** A document of SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/), in its JSON form. */
import { createHash } from "node:crypto";
import type { Component } from "./component.ts";

/** What a document describes: a program, or a package of programs. */
export interface Subject {
  readonly name: string;
  readonly version: string;
  readonly commit: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly files: readonly SubjectFile[];
}

export interface SubjectFile {
  /** As in bin/NAME. */
  readonly name: string;
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

const identifier = (name: string): string => `SPDXRef-Package-${name.replace(/[^A-Za-z0-9.-]+/g, "-")}`;

export const sortedComponents = (components: readonly Component[]): Component[] =>
  [...components].sort((a, b) => (a.name < b.name ? -1 : 1));

/** Of all that it has: the same content gives the same digest. */
export function contentDigest({ files }: Subject, components: readonly Component[]): string {
  const [only] = files;
  if (files.length === 1 && only !== undefined) return only.sha256;
  const content = [...files.map(({ sha256 }) => sha256), ...sortedComponents(components).map(({ checksum }) => checksum.value)];
  return createHash("sha256").update(content.join("\n")).digest("hex");
}

/** The same content gives the same document: nothing in it is random or depends on the time. */
export function spdxDocument(subject: Subject, components: readonly Component[]): SpdxDocument {
  const sorted = sortedComponents(components);
  const whole = identifier(subject.name);
  const files = subject.files.map((file) => ({ ...file, id: `SPDXRef-File-${file.name}` }));
  // What one program has is in that program; what is in one of several, or beside them, is in the package.
  const container = files.length === 1 ? files[0]!.id : whole;
  const licenses = [...new Set(["Apache-2.0", ...sorted.map(({ license }) => license)])].map((license) =>
    license.includes(" ") ? `(${license})` : license,
  );
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: DOCUMENT,
    name: `${subject.name}-${subject.version}`,
    documentNamespace: `https://spdx.org/spdxdocs/${subject.name}-${subject.version}-${contentDigest(subject, components)}`,
    creationInfo: {
      created: new Date(subject.time * 1000).toISOString().replace(/\.\d+Z$/, "Z"),
      creators: [`Tool: runt-sbom-${subject.version}`],
    },
    packages: [
      {
        SPDXID: whole,
        name: subject.name,
        versionInfo: subject.commit === "" ? subject.version : `${subject.version} (commit ${subject.commit})`,
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
    files: files.map(({ id, name, sha1, sha256 }) => ({
      SPDXID: id,
      fileName: `./bin/${name}`,
      fileTypes: ["BINARY"],
      checksums: [
        { algorithm: "SHA1", checksumValue: sha1 },
        { algorithm: "SHA256", checksumValue: sha256 },
      ],
      licenseConcluded: licenses.join(" AND "),
      copyrightText: "NOASSERTION",
    })),
    relationships: [
      { spdxElementId: DOCUMENT, relationshipType: "DESCRIBES", relatedSpdxElement: whole },
      ...files.map(({ id }) => ({ spdxElementId: whole, relationshipType: "CONTAINS", relatedSpdxElement: id })),
      ...sorted.map(({ name, how }) => ({ spdxElementId: container, relationshipType: how, relatedSpdxElement: identifier(name) })),
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
