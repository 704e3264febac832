/** Small Compose files of our own, each with what Docker Compose makes of it (test/golden/compose-models.json). */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Asked } from "./oracle.ts";

const FILES = fileURLToPath(new URL("files", import.meta.url));

interface Own {
  readonly name: string;
  readonly files?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly profiles?: readonly string[];
}

const OWN: readonly Own[] = [
  ...[
    "build",
    "dates",
    "files",
    "keys",
    "labels",
    "limits",
    "mounts",
    "networks",
    "numbers",
    "parts",
    "ports",
    "profiles",
    "rights",
    "secret-text",
  ].map((name) => ({ name, environment: { WORD: "open sesame", OUTSIDE: "from outside" } })),
  { name: "merge", files: ["base.yaml", "over.yaml"] },
  { name: "merge", files: ["base.yaml", "over.yaml"], environment: { WORD: "five" } },
  { name: "profiles", profiles: ["three"] },
  { name: "profiles", profiles: ["*"] },
  { name: "profiles", environment: { COMPOSE_PROFILES: "two", COMPOSE_PROJECT_NAME: "another" } },
];

export const CASES: readonly (Asked & { readonly title: string })[] = OWN.map(({ name, files = ["compose.yaml"], ...one }) => ({
  title: [name, ...(files.length > 1 ? files : []), ...(one.profiles ?? []), JSON.stringify(one.environment ?? {})].join(" "),
  directory: join(FILES, name),
  files,
  ...one,
}));
