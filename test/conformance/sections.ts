/** Sections of a Markdown page that different programs write. */

/** The text below "## TITLE", up to the next section; undefined when there is none. */
export function section(page: string, title: string): string | undefined {
  return new RegExp(`^## ${title}\\n\\n([\\s\\S]*?)(?=\\n## |$(?![\\s\\S]))`, "m").exec(page)?.[1]?.trimEnd();
}

/** The page with this text as that section; at the end if it is new. */
export function withSection(page: string, title: string, text: string): string {
  const old = section(page, title);
  if (old === undefined) return `${page.trimEnd()}\n\n## ${title}\n\n${text.trimEnd()}\n`;
  const at = page.indexOf(`## ${title}\n\n`) + title.length + 5;
  return `${page.slice(0, at)}${text.trimEnd()}${page.slice(at + old.length)}`;
}
