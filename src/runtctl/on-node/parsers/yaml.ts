/** Values as YAML. */
export { stringify } from "yaml";
