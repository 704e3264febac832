/** Files and documents of others that the corpus is held against. They are read from git repositories that somebody has cloned, and never kept here. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Directory with clones: OWNER/NAME, bare or not, that have the commits below. undefined: only the project's own files are looked at. */
export const CLONES = process.env["RUNT_CORPUS"];

const SOURCES = {
  kubernetesApi: { repository: "kubernetes/api", commit: "10b39a39bcee995dfe7cd5e8e7b922be5e46f1e2" },
  kubernetesExamples: { repository: "kubernetes/examples", commit: "279e8e4fe314f6cb7bc55fa3fbc21bbeaa48c0ea" },
  podman: { repository: "containers/podman", commit: "c6580b4a5219c9efb9ab79a540637d8a58b736f8" },
  composeSpecification: { repository: "compose-spec/compose-spec", commit: "170098ba07d9f53c383a41bfd4c5166b0a4529a6" },
  composeGo: { repository: "compose-spec/compose-go", commit: "e70e961c3a3acebf0800b882f1afb3dbf1fb74a2" },
  awesomeCompose: { repository: "docker/awesome-compose", commit: "18f59bdb09ecf520dd5758fbf90dec314baec545" },
  interLink: { repository: "interlink-hq/interLink", commit: "f632175701d78b604138ce2e1e38af13d1f7546b" },
} as const;

export type SourceName = keyof typeof SOURCES;

/** A file of one of them. */
export interface Place {
  readonly source: SourceName;
  readonly path: string;
}

const known = new Map<string, Buffer>();

/** @throws Error: the clone, the commit or the file is not there */
export function contentOf({ source, path }: Place): Buffer {
  const { repository, commit } = SOURCES[source];
  const id = `${repository}/${path}`;
  const found =
    known.get(id) ??
    execFileSync("git", ["-C", join(CLONES!, repository), "show", `${commit}:${path}`], {
      maxBuffer: 2 ** 26,
      stdio: ["ignore", "pipe", "ignore"],
    });
  known.set(id, found);
  return found;
}

/** A sentence of a document. */
export interface Quote {
  readonly document: Place;
  readonly text: string;
}

/** Whether the document says so. Line ends, marks of comments and emphasis do not count. */
export function isSaid({ document, text }: Quote): boolean {
  return plain(contentOf(document).toString()).includes(plain(text));
}

function plain(text: string): string {
  return text
    .replaceAll(/^\s*\/\/ ?/gm, "")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const TYPES: Place = { source: "kubernetesApi", path: "core/v1/types.go" };
/** Kubernetes' reference of pods, which is made of these comments. */
export const pods = (text: string): Quote => ({ document: TYPES, text });
export const deployments = (text: string): Quote => ({ document: { source: "kubernetesApi", path: "apps/v1/types.go" }, text });
export const jobs = (text: string): Quote => ({ document: { source: "kubernetesApi", path: "batch/v1/types.go" }, text });
/** Chapters of the Compose specification, like "05-services". */
export const compose = (chapter: string, text: string): Quote => ({
  document: { source: "composeSpecification", path: `${chapter}.md` },
  text,
});
