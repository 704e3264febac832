/** Secrets: read from their sources when they are needed, kept only in memory, and removed from messages. */
export { readVariable, type SecretFile, SecretFiles } from "./files.ts";
export { asMemoryFile } from "./memory-file.ts";
export { readSecret, redact, SecretError, type SecretSource } from "./read.ts";
