/** Formats a time as metav1.Time does: RFC 3339 in whole seconds. */
export function instant(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
