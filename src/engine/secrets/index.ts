/** Secrets: had from where they are when they are needed, in memory only, and hidden in what others say. */
export { readVariable, type SecretFile, SecretFiles } from "./files.ts";
export { asMemoryFile } from "./memory-file.ts";
export { readSecret } from "./read.ts";
export { redact } from "./redact.ts";
export { SecretError, type SecretSource } from "./source.ts";
