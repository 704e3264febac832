/**
 * What takes the schemas and the YAML parser. tools/bundle-client.ts makes a program of its own of it, beside the client, so that verbs without it start as soon as before. Each part is
 * evaluated when it is asked for, because making schemas takes longer than reading a file with them.
 */
export const compose = () => import("./parsers/compose.ts");
export const files = () => import("./parsers/files.ts");
export const objects = () => import("./parsers/objects.ts");
export const schema = () => import("./parsers/schema.ts");
export const yaml = () => import("./parsers/yaml.ts");
