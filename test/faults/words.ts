/** Verbs and their arguments that more than one scenario has; the words in capitals are replaced (case.ts). */
export const CREATE = ["create", "-b", "BUNDLE", "ID"];
export const RUN = ["run", "-d", "-b", "BUNDLE", "ID"];
