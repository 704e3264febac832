/** The calls of the host module that only the processes of a machine make: no verb's chunk names them. */
export {
  accept,
  chroot,
  insertModule,
  listen,
  makeRaw,
  mount,
  nextSignal,
  pipe,
  readSome,
  setNonBlocking,
  setWindowSize,
  signalDescriptor,
  spawnCompanion,
  streamPair,
  writeSome,
} from "runt:host";
