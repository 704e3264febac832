/** Set by the test build (native-bindings/testing): the names in RUNT_DISABLE_DEFENCES. */
declare const RUNT_DISABLED_DEFENCES: string | undefined;
/** The names in RUNT_DISABLE. */
declare const RUNT_DISABLED: string | undefined;

/**
 * Whether this defence is switched off: only ever in the test build. In the product the bundler puts `false` in the place of every
 * `defenceDisabled("NAME")` (tools/bundle/sources.ts), so that neither this function nor what it guards is there. Names: native-bindings/testing/defences.h.
 */
export function defenceDisabled(name: string): boolean {
  return typeof RUNT_DISABLED_DEFENCES === "string" && RUNT_DISABLED_DEFENCES.split(",").includes(name);
}

/** Whether a way to save time is switched off, in the test build only: what it speeds up has to work without it. The bundler treats it the same. */
export function disabled(name: "head-start" | "schedule"): boolean {
  return typeof RUNT_DISABLED === "string" && RUNT_DISABLED.split(",").includes(name);
}
