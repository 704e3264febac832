/** What `bin/runtctl` has of the host module, and its own functions. Errors and descriptors are as there (native-bindings/host/host.d.ts). */
declare module "runt:client" {
  export {
    accept,
    argv,
    build,
    close,
    connect,
    exit,
    getenv,
    getpid,
    isatty,
    monotonic,
    nextSignal,
    open,
    poll,
    readdir,
    readSome,
    realpath,
    setNonBlocking,
    sha256,
    stat,
    strerror,
    tryMkdir,
    utf8Decode,
    utf8Encode,
    windowSize,
    write,
    writeSome,
  } from "runt:host";

  /** Run what promises wait for, until nothing of it is left. */
  export function runJobs(): void;
  /** Block this signal. Returns a signalfd(2) of it. */
  export function holdSignal(number: number): number;
  /** Unblock it, and close that descriptor. */
  export function releaseSignal(number: number, descriptor: number): void;
  /** Send this signal to this process. */
  export function raise(number: number): void;
  /** Every key of the terminal is a byte of its own, until it is given back or this process ends by itself. */
  export function takeTerminal(fd: number): void;
  export function giveBackTerminal(): void;
  /** A socket that listens at this port (0: a free one) of this address or name of the host, and does not block. An unknown name throws ENXIO. */
  export function listen(address: string, port: number): number;
  /** The port of a socket. */
  export function localPort(fd: number): number;
  /** shutdown(2) with SHUT_WR. */
  export function endSending(fd: number): void;
}
