/** What every wing on Node does in the same way: running programs, writing files, asking what is mounted. */
export { type Answering, hasServer, isLook, type Patience, Servers, untilAnswered, untilAnsweredPatiently } from "./answering.ts";
export { isMountPoint, listedAt, MountPoints, mountAt, mountOf, mountsBelow, mountsIn, unmount, unmountBelow } from "./mounts.ts";
export { machineOf, type PackagedProgram, packagedPrograms } from "./packaged.ts";
export {
  endWithThis,
  killGroup,
  outputOf,
  PROGRAM_MS,
  type ProgramEnd,
  type ProgramOptions,
  packageOf,
  runProgram,
  runProgramNow,
  type Stream,
} from "./program.ts";
export {
  type Durability,
  placeAtomically,
  placeAtomicallyLater,
  removeOwnFile,
  type Writing,
  writeAtomically,
  writeAtomicallyLater,
  writeOwnFile,
} from "./write.ts";
