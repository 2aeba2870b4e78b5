/* SPDX-License-Identifier: Apache-2.0 */
/* Where a server listens. */
#ifndef TARE_SERVE_ADDRESS_H
#define TARE_SERVE_ADDRESS_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <sys/socket.h>

struct tare_address {
	struct sockaddr_storage at;
	socklen_t len;
	bool is_loopback; /* only this machine comes there */
};

/* "127.0.0.1:19400", "[::1]:19400", "localhost:0" (any free port), ":19400" (every address of this machine). */
int tare_address_parse(const char *text, struct tare_address *out, struct tare_err *err);
/* A socket that listens there; or a negative code. The address then has the port that it got. */
int tare_address_listen(struct tare_address *address, struct tare_err *err);
void tare_address_name(const struct tare_address *address, struct tare_str *out);
/* May a browser that names this host be answered where there is no token? Only names of this machine itself. */
bool tare_address_is_own_name(const char *host);

#endif
