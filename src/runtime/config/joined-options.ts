/** Words of an option list that are several options of a filesystem, as "size=64m,mode=755": runc and crun give them to mount(2), and the kernel splits them. */

/** Labels of security modules (mount(8)). */
const LABEL = /^(?:context|fscontext|defcontext|rootcontext)=/;

/**
 * The options of a word, as the kernel splits it at commas. A label has commas of its own, and so has the list of nodes of a memory policy, behind
 * which a digit follows (tmpfs(5), mpol).
 */
export function splitData(word: string): readonly string[] {
  if (!word.includes(",") || LABEL.test(word)) return [word];
  return word.split(/,(?!\d)/).filter((option) => option !== "");
}
