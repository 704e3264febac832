#ifndef RUNT_HOST_STREAM_H
#define RUNT_HOST_STREAM_H

/* A connected, close-on-exec stream socket; "@name" is abstract. -1 and errno. */
int host_connect_to(const char *path);

#endif
