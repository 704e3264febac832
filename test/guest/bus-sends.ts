/** How often a program speaks to systemd, by itself or over the bus, from the trace of its system calls: each send is a round trip or part of one. */

/** runt connects by a descriptor of the path, which may be too long for an address. */
const CONNECT =
  /^(\d+) +connect\((\d+), \{sa_family=AF_UNIX, sun_path="(?:[^"]*(?:systemd\/private|bus_socket|\/bus)|\/proc\/self\/fd\/\d+)"/;
const SEND = /^(\d+) +(?:sendmsg|sendto|write|writev)\((\d+),/;
const THREAD = /^(\d+) +clone3?\(.*CLONE_THREAD/;
const RETURNED = /^(\d+) +(?:clone3?\(|<\.\.\. clone3? resumed>).*\) = (\d+)$/;

export interface BusUse {
  readonly connections: number;
  readonly sends: number;
}

/** `trace`: of strace -f. Threads of the process that has connected count as it does. */
export function busUse(trace: string): BusUse {
  const groups = new Map<string, string>();
  const groupOf = (pid: string) => groups.get(pid) ?? pid;
  const starting = new Set<string>();
  const open = new Set<string>();
  let connections = 0;
  let sends = 0;
  for (const line of trace.split("\n")) {
    const [, starter] = THREAD.exec(line) ?? [];
    if (starter !== undefined) starting.add(starter);
    const [, parent = "", child = ""] = RETURNED.exec(line) ?? [];
    if (child !== "" && starting.delete(parent)) groups.set(child, groupOf(parent));
    const [, connector, socket] = CONNECT.exec(line) ?? [];
    if (connector !== undefined) {
      connections++;
      open.add(`${groupOf(connector)} ${socket}`);
    }
    const [, sender, fd] = SEND.exec(line) ?? [];
    if (sender !== undefined && open.has(`${groupOf(sender)} ${fd}`)) sends++;
    const [, closer, closed] = /^(\d+) +close\((\d+)/.exec(line) ?? [];
    if (closer !== undefined) open.delete(`${groupOf(closer)} ${closed}`);
  }
  return { connections, sends };
}
