/** The provenance of a release: an in-toto statement v1 with the predicate SLSA provenance v1 (https://slsa.dev/spec/v1.0/provenance). */
import type { SpdxDocument } from "../sbom/spdx.ts";

/** What the build has read: a source, a library, or a program that made others. */
export interface Material {
  readonly uri?: string;
  readonly name?: string;
  readonly digest?: Readonly<Record<string, string>>;
}

/** A file of the release. */
export interface Artifact {
  readonly name: string;
  readonly sha256: string;
}

export interface Build {
  readonly version: string;
  readonly commit: string;
  /** Seconds since 1970, in all files of the release. */
  readonly epoch: number;
  /** Who has built it: an address of the machine or service. */
  readonly builder: string;
  readonly node: string;
}

export interface Statement {
  readonly _type: "https://in-toto.io/Statement/v1";
  readonly subject: readonly Readonly<{ name: string; digest: Readonly<{ sha256: string }> }>[];
  readonly predicateType: "https://slsa.dev/provenance/v1";
  readonly predicate: {
    readonly buildDefinition: {
      readonly buildType: string;
      readonly externalParameters: Readonly<{ source: Material; target: string }>;
      readonly internalParameters: Readonly<Record<string, string>>;
      readonly resolvedDependencies: readonly Material[];
    };
    readonly runDetails: { readonly builder: Readonly<{ id: string; version: Readonly<Record<string, string>> }> };
  };
}

const BUILD_TYPE = "https://runt.invalid/make-release/v1";

/** What a bill of materials names, each once: of both machines the sources are the same. */
export function materialsOf(documents: readonly SpdxDocument[]): Material[] {
  const found = new Map<string, Material>();
  for (const { packages } of documents)
    for (const { externalRefs, checksums, packageFileName } of packages) {
      const [checksum] = checksums ?? [];
      const uri = externalRefs?.[0]?.referenceLocator;
      if (uri === undefined || checksum === undefined) continue;
      const digest = { [checksum.algorithm.toLowerCase()]: checksum.checksumValue };
      found.set(`${uri} ${checksum.checksumValue}`, { uri, ...(packageFileName === undefined ? {} : { name: packageFileName }), digest });
    }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, material]) => material);
}

/** No time of the build is in it: the same sources and tools give the same statement. */
export function statement(build: Build, artifacts: readonly Artifact[], materials: readonly Material[]): Statement {
  const source = { name: `runt-${build.version}`, digest: { gitCommit: build.commit } };
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: artifacts.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { source, target: "release" },
        internalParameters: { SOURCE_DATE_EPOCH: String(build.epoch) },
        resolvedDependencies: [source, ...materials],
      },
      runDetails: { builder: { id: build.builder, version: { node: build.node } } },
    },
  };
}
