#ifndef RUNT_HOST_SECCOMP_H
#define RUNT_HOST_SECCOMP_H

extern const char host_seccomp_version[];

#endif
