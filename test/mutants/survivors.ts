/** Mutants that no test can tell from runt, with the reason. */
export const EXPLAINED: Readonly<Record<string, string>> = {};
