/**
 * Options of a cgroup2 mount that are not the mount's own (kernel, Documentation/admin-guide/cgroup-v2.rst, Mounting). The kernel takes them in
 * every cgroup namespace and heeds them in the first one only.
 */
export const CGROUP2_OPTIONS: readonly string[] = [
  "nsdelegate",
  "favordynmods",
  "nofavordynmods",
  "memory_localevents",
  "memory_recursiveprot",
  "memory_hugetlb_accounting",
  "pids_localevents",
];

/** On v1 of every word, on v2 of those that it knows. */
export function withoutEffect(destination: string, words: readonly string[]): string {
  return `mount of "${destination}": "${words.join(",")}" has no effect on a cgroup mount`;
}

/** What is wrong with an option of a cgroup mount on v2; undefined: nothing. */
export function cgroup2OptionProblem(destination: string, word: string): string | undefined {
  return CGROUP2_OPTIONS.includes(word) ? undefined : `mount of "${destination}": cgroup v2 has no option "${word}"`;
}
