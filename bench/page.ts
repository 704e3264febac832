/** The generated sections of docs/performance.md and docs/performance/v1.md: each between two markers, by name; everything else is written by hand. */

const begin = (name: string) => `<!-- bench ${name}: written by make bench -->`;
const END = "<!-- end of bench -->";

/** The page with this text in the section. A page that has no such section gets it at the end. */
export function withSection(page: string, name: string, text: string): string {
  const section = `${begin(name)}\n\n${text.trim()}\n\n${END}`;
  const from = page.indexOf(begin(name));
  if (from < 0) return `${page.trimEnd()}\n\n${section}\n`;
  const to = page.indexOf(END, from);
  if (to < 0) throw new Error(`section ${name} does not end with ${END}`);
  return page.slice(0, from) + section + page.slice(to + END.length);
}
