/** Acts on what is the engine's own only: files and directories below its directories. Every room may use it. */
export * from "../../executor/own/index.ts";
