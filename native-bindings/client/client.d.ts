/** What `bin/runtctl` has of the host module, and its own functions. Errors and descriptors are as there (native-bindings/host/host.d.ts). */
declare module "runt:client" {
  export {
    argv,
    build,
    close,
    connect,
    exit,
    getenv,
    getpid,
    isatty,
    memfd,
    monotonic,
    nextSignal,
    open,
    poll,
    readSome,
    realpath,
    setNonBlocking,
    strerror,
    utf8Decode,
    utf8Encode,
    windowSize,
    write,
    writeSome,
  } from "runt:host";

  /** Run what promises wait for, until nothing of it is left. */
  export function runJobs(): void;
  /** Block these signals. Returns a signalfd(2) of them. */
  export function holdSignals(numbers: readonly number[]): number;
  /** Unblock them, and close that descriptor. */
  export function releaseSignals(numbers: readonly number[], descriptor: number): void;
  /** Replace this process by a program, with its environment; `stdin`: a descriptor of a file that becomes its standard input, from its beginning (-1: none). */
  export function execute(path: string, argv: readonly string[], stdin: number): never;
}
