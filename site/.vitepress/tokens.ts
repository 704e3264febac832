/**
 * The words of a text that the search finds: each word, and each name with hyphens, dots or underscores as a whole too, such as the code of a
 * finding. It also runs in the browser, where VitePress evaluates its text: it uses nothing outside of itself.
 */
export function tokensOf(text: string): string[] {
  const names = text.match(/[\p{L}\p{N}]+(?:[-._/][\p{L}\p{N}]+)+/gu) ?? [];
  return [...text.split(/[\n\r\p{Z}\p{P}]+/u), ...names];
}
