/** What a word of the command line can be, read from its placeholder in the table. */
export type WordKind =
  | "container"
  | "signal"
  | "file"
  | "directory"
  | "command"
  | "verb"
  | "nothing"
  | { readonly words: readonly string[] };

const PLACEHOLDERS: Readonly<Record<string, WordKind>> = {
  "container-id": "container",
  signal: "signal",
  command: "command",
  dir: "directory",
  directory: "directory",
  bundle: "directory",
  file: "file",
  socket: "file",
  path: "file",
  fifo: "file",
};

/** `DIR`, `<container-id>`, `[command...]`, `table|json`. An unknown placeholder has no completion. */
export function kindOf(placeholder: string): WordKind {
  const name = placeholder.replace(/[<>[\].]/g, "");
  const parts = name.split("|");
  if (parts.length === 1 || parts.some((part) => part !== part.toLowerCase())) return kindOfName(parts);
  return { words: parts };
}

/** FILE|DIR: the wider of the two, which is the one that the shells offer directories for too. */
function kindOfName(parts: readonly string[]): WordKind {
  return parts.map((part) => PLACEHOLDERS[part.toLowerCase()] ?? "nothing").find((kind) => kind !== "nothing") ?? "nothing";
}
