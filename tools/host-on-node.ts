/**
 * For tools that read what the command line of runtctl is made of: on Node there is no host module, and what stands for it in unit tests takes its place.
 * To be imported before what is of src/runtctl, which is then loaded with import().
 */
import { register } from "node:module";

const platform = new URL("../test/support/client-platform.ts", import.meta.url).href;
const hooks = `export const resolve = (specifier, context, next) =>
  next(/\\/platform\\/index\\.ts$/.test(specifier) ? ${JSON.stringify(platform)} : specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
