/** RFC 3339 in whole seconds, the format of metav1.Time. */
export function instant(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}
