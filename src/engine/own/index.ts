/** Functions that act only on files and directories of the engine. Every folder of the engine may use them. */
export * from "../../executor/own/index.ts";
