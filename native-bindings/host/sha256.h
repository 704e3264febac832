#ifndef RUNT_HOST_SHA256_H
#define RUNT_HOST_SHA256_H
#include <stddef.h>
#include <stdint.h>

void sha256_hex(const uint8_t *data, size_t length, char out[65]);

#endif
