/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the deadlines of clients. */
#include "serve/client.h"

#include "base/now.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <sys/socket.h>

#define SECOND INT64_C(1000000000)

static void begin(struct tare_clients *clients, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
		tare_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct tare_client *c = tare_xcalloc(1, sizeof(*c));

	*c = (struct tare_client){ .connection = connection,
		                       .next = clients->first,
		                       .fd = info ? info->connect_fd : -1,
		                       .since_ns = tare_now_ns(CLOCK_MONOTONIC) };
	clients->first = c;
	*context = c;
}

static void end(struct tare_clients *clients, struct tare_client *client)
{
	for (struct tare_client **at = &clients->first; *at; at = &(*at)->next)
		if (*at == client) {
			*at = client->next;
			free(client);
			return;
		}
}

void tare_client_notify(void *clients, struct MHD_Connection *connection, void **socket_context,
                        enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		begin(clients, connection, socket_context);
	else
		end(clients, *socket_context);
}

void tare_client_completed(void *clients, struct MHD_Connection *connection, void **request,
                           enum MHD_RequestTerminationCode code)
{
	struct tare_client *c = tare_client_of(connection);

	(void)clients;
	(void)request;
	(void)code;
	if (!c)
		return;
	c->since_ns = tare_now_ns(CLOCK_MONOTONIC);
	c->is_waiting = c->has_waited = false;
}

struct tare_client *tare_client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		tare_mhd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void tare_clients_turn(const struct tare_clients *clients)
{
	int64_t now = tare_now_ns(CLOCK_MONOTONIC);

	for (struct tare_client *c = clients->first; c; c = c->next)
		if (!c->is_waiting && c->fd >= 0 && now - c->since_ns > TARE_CLIENT_MOST_S * SECOND) {
			shutdown(c->fd, SHUT_RDWR); /* the library sees it, and closes */
			c->since_ns = now;
		}
}

size_t tare_clients_waiting(const struct tare_clients *clients)
{
	size_t n = 0;

	for (const struct tare_client *c = clients->first; c; c = c->next)
		n += c->is_waiting;
	return n;
}

void tare_client_wait(struct tare_client *client, dev_t device, ino_t inode)
{
	client->is_waiting = client->has_waited = true;
	client->device = device;
	client->inode = inode;
	tare_mhd.MHD_suspend_connection(client->connection);
}

void tare_clients_resume(const struct tare_clients *clients, dev_t device, ino_t inode)
{
	for (struct tare_client *c = clients->first; c; c = c->next)
		if (c->is_waiting && (!device || (c->device == device && c->inode == inode))) {
			c->is_waiting = false;
			c->since_ns = tare_now_ns(CLOCK_MONOTONIC);
			tare_mhd.MHD_resume_connection(c->connection);
		}
}
