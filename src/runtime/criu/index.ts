/** Checkpoints by criu: its protocol (pure), and talking to it. */
export { foreignHierarchies, type Membership, parseMemberships, restoreRoots } from "./cgroups.ts";
export { endingError } from "./log.ts";
export {
  type Answer,
  type CgroupModeName,
  type CgroupRoot,
  type CriuOptions,
  type ExternalMount,
  encodeRequest,
  type InheritedDescriptor,
  type JoinedNamespace,
  type NetworkLock,
  REQUEST,
} from "./messages.ts";
export { externalMounts, idMappedMounts, type MountFacts, requireReadableNames, requireReadableTable } from "./mounts.ts";
export {
  externalFiles,
  isFileKey,
  OPEN_FILES,
  openFileModes,
  type Recorded,
  recordedStreams,
  replaceableFiles,
  streamKey,
} from "./open-files.ts";
export { findProgram } from "./path.ts";
export { answersFeatures, findCriu, requireCriu, requireFeatures } from "./program.ts";
export { converse } from "./session.ts";
