/** A document of CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/), of the same facts as that of SPDX. */
import type { Component } from "./component.ts";
import { contentDigest, type Subject, sortedComponents } from "./spdx.ts";

interface Hash {
  readonly alg: string;
  readonly content: string;
}

interface CycloneComponent {
  readonly type: "application" | "library" | "file";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly copyright?: string;
  readonly hashes?: readonly Hash[];
  readonly licenses?: readonly (Readonly<{ license: { id: string } }> | Readonly<{ expression: string }>)[];
  readonly components?: readonly CycloneComponent[];
  readonly properties?: readonly Readonly<{ name: string; value: string }>[];
}

export interface CycloneDocument {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.5";
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: {
    readonly timestamp: string;
    readonly tools: { readonly components: readonly CycloneComponent[] };
    readonly component: CycloneComponent;
  };
  readonly components: readonly CycloneComponent[];
  readonly dependencies: readonly Readonly<{ ref: string; dependsOn: readonly string[] }>[];
}

const ALGORITHMS = { SHA256: "SHA-256", SHA512: "SHA-512" } as const;

/** A UUID of version 8 (RFC 9562), which is made of a digest. */
export function uuidOf(digest: string): string {
  const hex = `${digest.slice(0, 12)}8${digest.slice(13, 16)}8${digest.slice(17, 32)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The same content gives the same document. */
export function cycloneDocument(subject: Subject, components: readonly Component[]): CycloneDocument {
  const libraries = sortedComponents(components).map(library);
  const whole = `${subject.name}@${subject.version}`;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: `urn:uuid:${uuidOf(contentDigest(subject, components))}`,
    version: 1,
    metadata: {
      timestamp: new Date(subject.time * 1000).toISOString().replace(/\.\d+Z$/, "Z"),
      tools: { components: [{ type: "application", "bom-ref": "runt-sbom", name: "runt-sbom", version: subject.version }] },
      component: {
        type: "application",
        "bom-ref": whole,
        name: subject.name,
        version: subject.version,
        licenses: [{ license: { id: "Apache-2.0" } }],
        components: subject.files.map(({ name, sha1, sha256 }) => ({
          type: "file",
          "bom-ref": `file:bin/${name}`,
          name: `bin/${name}`,
          hashes: [
            { alg: "SHA-1", content: sha1 },
            { alg: "SHA-256", content: sha256 },
          ],
        })),
        ...(subject.commit === "" ? {} : { properties: [{ name: "runt:commit", value: subject.commit }] }),
      },
    },
    components: libraries,
    dependencies: [{ ref: whole, dependsOn: libraries.map((one) => one["bom-ref"]) }],
  };
}

function library({ name, version, purl, license, copyright, checksum, file, parts }: Component): CycloneComponent {
  return {
    type: "library",
    "bom-ref": version === undefined ? name : `${name}@${version}`,
    name,
    ...(version === undefined ? {} : { version }),
    licenses: [/ (?:WITH|AND|OR) /.test(license) ? { expression: license } : { license: { id: license } }],
    copyright,
    hashes: [{ alg: ALGORITHMS[checksum.algorithm], content: checksum.value }],
    ...(purl === undefined ? {} : { purl }),
    properties: [
      { name: "runt:hash-of", value: file },
      { name: "runt:parts", value: parts.join(" ") },
    ],
  };
}
