/** The text of `runtctl --help`. */
export const USAGE = `Usage: runtctl [-s SOCKET] [-p GROUP] COMMAND ...

  apply -f FILE                     start the tasks of a file (YAML or JSON; - is stdin); tasks that run already stay as they are
  get [NAME] [-o json]              tasks and containers
  logs NAME [-c CONTAINER] [-f] [-n LINES]
                                    what a container has printed; -f goes on until it ends
  delete NAME [--no-wait]           stop a task and remove everything of it
  validate -f FILE                  every error of a file, with line and column; needs no daemon

  -s, --socket SOCKET   of the daemon; default: RUNTD_SOCKET, else /run/runtd/admin.sock
  -p, --project GROUP   of the tasks; default: default
  -h, --help            this text
`;
