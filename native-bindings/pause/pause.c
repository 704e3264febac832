/*
 * runt-pause: the process that holds the namespaces which the containers of a task share. It takes the ended processes of a shared pid namespace, whose
 * first process it is, and ends as soon as it is told to. Started in a root file system that holds nothing but this file (src/engine/pause). With arguments
 * it makes a connection in the network namespace of a task, on the host or in a virtual machine (connect.c), ends flows of UDP (flows.c), or tells of changes
 * of a table of nftables (watch.c).
 */
#include "connect.h"
#include "flows.h"
#include "watch.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "flows") == 0) return end_flows(argv[2], argv[3], argv[4]);
  if (argc == 3 && strcmp(argv[1], "watch") == 0) return watch_table(argv[2]);
  if (argc == 5) return connect_in_namespace(argv[1], argv[2], argv[3], argv[4]);
  // A blocked signal waits for sigwaitinfo, also one whose default would be to be ignored: the first process of a namespace ignores what it does not handle.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGCHLD);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  for (;;) {
    const int signal = sigwaitinfo(&signals, NULL);
    if (signal == SIGTERM || signal == SIGINT) _exit(0);
    // One SIGCHLD may stand for several.
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  }
}
