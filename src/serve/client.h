/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of clients, each with a deadline that no dripping of bytes moves. */
#ifndef TARE_SERVE_CLIENT_H
#define TARE_SERVE_CLIENT_H

#include "serve/library.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	TARE_CLIENTS_MOST = 128,  /* more are turned away */
	TARE_CLIENTS_OF_ONE = 64, /* … and more than these of one address */
	TARE_CLIENT_IDLE_S = 10,  /* without a byte sent or taken */
	TARE_CLIENT_MOST_S = 60,  /* for one request, from the connection or from the request before */
};

struct tare_client {
	struct MHD_Connection *connection;
	struct tare_client *next;
	int fd;
	int64_t since_ns;
	bool is_waiting; /* for a page: suspended */
	bool has_waited;
	dev_t device; /* which page */
	ino_t inode;
};

struct tare_clients {
	struct tare_client *first;
};

/* What the library calls: a connection begins and ends, a request is done. */
void tare_client_notify(void *clients, struct MHD_Connection *connection, void **socket_context,
                        enum MHD_ConnectionNotificationCode code);
void tare_client_completed(void *clients, struct MHD_Connection *connection, void **request,
                           enum MHD_RequestTerminationCode code);
struct tare_client *tare_client_of(struct MHD_Connection *connection);

/* Ends those whose time is over. */
void tare_clients_turn(const struct tare_clients *clients);
size_t tare_clients_waiting(const struct tare_clients *clients);
void tare_client_wait(struct tare_client *client, dev_t device, ino_t inode);
/* Those that wait for that page; device 0: for any. */
void tare_clients_resume(const struct tare_clients *clients, dev_t device, ino_t inode);

#endif
