/** What begins a further process in a machine, on behalf of `exec`: that it cannot be is an error of `exec`. Another process of the host goes on with it. */
import * as host from "../../host/index.ts";
import { type BeginRequest, fromEnvironment, SOCKET_VARIABLE } from "../request.ts";
import { ask } from "./ask.ts";

const BROKEN = 125;

export function begin(): never {
  const { opening, name, seconds } = fromEnvironment(host.getenv) as BeginRequest;
  const fail = (message: string, status: number): never => {
    host.write(2, message);
    return host.exit(status);
  };
  return ask(host.getenv(SOCKET_VARIABLE) ?? "", "open", opening, seconds, {
    keep: { at: "started", name },
    ended: (status) => fail(`it has ended with status ${status}`, BROKEN),
    failed: ({ message, status }) => fail(message, status),
    silent: () => fail(`the machine has not begun it after ${seconds} seconds, or has ended`, BROKEN),
  });
}
