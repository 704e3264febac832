/** Formats values for programs. */
export async function printValue(value: unknown, format: "json" | "yaml"): Promise<void> {
  console.log(format === "yaml" ? (await import("yaml")).stringify(value).trimEnd() : JSON.stringify(value, null, 2));
}
