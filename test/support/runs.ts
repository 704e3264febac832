/** Tests of the program's own code use it, too, where the types of Node are not known. */
const { process } = globalThis as unknown as { readonly process: { readonly env: Readonly<Record<string, string | undefined>> } };

/** How often a test with random input runs: in `make check` an eighth of it. */
export const runsOf = (usual: number): number => (process.env["RUNT_TEST_VARIANTS"] === "quick" ? Math.ceil(usual / 8) : usual);
