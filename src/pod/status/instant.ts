/** RFC 3339 in whole seconds, as metav1.Time has it. */
export function instant(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
