#ifndef RUNT_CLIENT_H
#define RUNT_CLIENT_H

/* As it was before the client took it. Without effect where it has not. */
void client_restore_terminal(void);

#endif
