/* SPDX-License-Identifier: Apache-2.0 */
/* Answers requests: metrics, the index, pages, refusals. */
#include "serve/http.h"

#include "serve/client.h"
#include "serve/index.h"
#include "serve/library.h"
#include "serve/pages.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	REQUEST_MOST = 16 << 10, /* bytes that one may keep of a client */
	WAITING_MOST = 16,       /* clients that wait for pages */
	TURN_MS = 1000,
};

struct server {
	struct tare_gather *g;
	const struct tare_http_options *o;
	struct tare_clients clients;
	struct tare_pages pages;
	struct MHD_Daemon *daemon;
};

/* ---- answers ---- */

struct answer {
	unsigned status;
	const char *type; /* NULL: plain text */
	const char *bytes;
	size_t len;
	const char *header, *value; /* one more; or NULL */
};

static enum MHD_Result send_answer(struct MHD_Connection *connection, const struct answer *a)
{
	static const char *const headers[][2] = {
		{ "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
		                             "img-src data: blob:; base-uri 'none'; form-action 'none'" },
	};
	struct MHD_Response *r =
		tare_mhd.MHD_create_response_from_buffer(a->len, (void *)(uintptr_t)a->bytes, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		tare_mhd.MHD_add_response_header(r, headers[i][0], headers[i][1]);
	tare_mhd.MHD_add_response_header(r, "Content-Type", a->type ? a->type : "text/plain; charset=utf-8");
	if (a->header)
		tare_mhd.MHD_add_response_header(r, a->header, a->value);
	rc = tare_mhd.MHD_queue_response(connection, a->status, r);
	tare_mhd.MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text, const char *header,
                              const char *value)
{
	const struct answer a = { status, NULL, text, strlen(text), header, value };

	return send_answer(connection, &a);
}

static enum MHD_Result answer_metrics(struct server *s, struct MHD_Connection *connection)
{
	tare_gather_turn(s->g, false);
	return send_answer(connection,
	                   &(struct answer){ MHD_HTTP_OK, "application/openmetrics-text; version=1.0.0; charset=utf-8",
	                                     tare_str_text(&s->g->text), s->g->text.len, NULL, NULL });
}

static enum MHD_Result answer_index(struct server *s, struct MHD_Connection *connection)
{
	struct tare_str page = { 0 };
	enum MHD_Result rc;

	tare_gather_turn(s->g, false);
	tare_serve_index(&s->g->table, &page);
	rc = send_answer(connection, &(struct answer){ MHD_HTTP_OK, "text/html; charset=utf-8", tare_str_text(&page),
	                                               page.len, NULL, NULL });
	tare_str_free(&page);
	return rc;
}

/* The name is looked up in the table, whatever is in it. A page that is not there yet is made, and the client waits. */
static enum MHD_Result answer_page(struct server *s, struct MHD_Connection *connection, const char *name)
{
	const struct tare_serve_entry *e;
	const struct tare_page_kept *page;
	struct tare_client *client = tare_client_of(connection);

	tare_gather_turn(s->g, false);
	e = tare_serve_table_find(&s->g->table, name);
	if (!e)
		return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such recording here.\n", NULL, NULL);
	page = tare_pages_get(&s->pages, e);
	if (page)
		return send_answer(connection, &(struct answer){ page->status, "text/html; charset=utf-8",
		                                                 tare_str_text(&page->text), page->text.len, NULL, NULL });
	if (!client || client->has_waited || tare_clients_waiting(&s->clients) >= WAITING_MOST)
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "Many pages are being made; try again.\n",
		              "Retry-After", "10");
	tare_client_wait(client, e->device, e->inode);
	return MHD_YES;
}

/* ---- requests ---- */

static enum MHD_Result route(struct server *s, struct MHD_Connection *connection, const char *url)
{
	if (!strcmp(url, "/metrics"))
		return answer_metrics(s, connection);
	if (!strcmp(url, "/"))
		return answer_index(s, connection);
	if (!strncmp(url, "/r/", 3))
		return answer_page(s, connection, url + 3);
	return refuse(connection, MHD_HTTP_NOT_FOUND, "There are /, /metrics and /r/RECORDING.\n", NULL, NULL);
}

static bool is_allowed(const struct server *s, struct MHD_Connection *connection)
{
	return !s->o->token.text[0] ||
	       tare_token_is_given(&s->o->token,
	                           tare_mhd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization"));
}

/* A page of the web may have a name of its own lead to this machine: without a token, only names of this machine are answered. */
static bool is_asked_here(const struct server *s, struct MHD_Connection *connection)
{
	return s->o->token.text[0] ||
	       tare_address_is_own_name(tare_mhd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"));
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request)
{
	struct server *s = arg;

	(void)version;
	(void)upload;
	if (!is_allowed(s, connection))
		return refuse(connection, MHD_HTTP_UNAUTHORIZED,
		              "This needs the token: \"Authorization: Bearer TOKEN\", or any user with "
		              "the token as the password.\n",
		              "WWW-Authenticate", "Basic realm=\"tare\", charset=\"UTF-8\"");
	if (!is_asked_here(s, connection))
		return refuse(connection, MHD_HTTP_FORBIDDEN,
		              "Without a token only localhost, 127.0.0.1 and [::1] are answered.\n", NULL, NULL);
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Nothing here can be changed.\n", "Allow", "GET, HEAD");
	if (!*request || *upload_size) { /* a body is passed over; a connection stays open if its request was read whole */
		*upload_size = 0;
		*request = s;
		return MHD_YES;
	}
	return route(s, connection, url);
}

/* ---- pages that clients wait for ---- */

static const struct tare_serve_entry *entry_of(const struct server *s, dev_t device, ino_t inode)
{
	for (size_t i = 0; i < s->g->table.count; i++)
		if (s->g->table.entries[i]->device == device && s->g->table.entries[i]->inode == inode)
			return s->g->table.entries[i];
	return NULL;
}

static void begin_next(struct server *s)
{
	for (const struct tare_client *c = s->clients.first; c && s->pages.job.pid <= 0; c = c->next) {
		const struct tare_serve_entry *e;

		if (!c->is_waiting)
			continue;
		e = entry_of(s, c->device, c->inode);
		if (!e || !tare_pages_begin(&s->pages, e))
			tare_clients_resume(&s->clients, c->device, c->inode);
	}
}

static void turn_pages(struct server *s)
{
	dev_t device = s->pages.job.page.device;
	ino_t inode = s->pages.job.page.inode;

	if (tare_pages_turn(&s->pages))
		tare_clients_resume(&s->clients, device, inode);
	begin_next(s);
}

/* ---- the loop ---- */

static void say_nothing(void *arg, const char *format, va_list ap)
{
	(void)arg;
	(void)format;
	(void)ap;
}

static struct MHD_Daemon *start(struct server *s, int fd)
{
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

	if (s->o->address.at.ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	return tare_mhd.MHD_start_daemon(flags, 0, NULL, NULL, answer, s, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
	                                 MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
	                                 (unsigned)TARE_CLIENTS_MOST, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
	                                 (unsigned)TARE_CLIENTS_OF_ONE, MHD_OPTION_CONNECTION_TIMEOUT,
	                                 (unsigned)TARE_CLIENT_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	                                 (size_t)REQUEST_MOST, MHD_OPTION_NOTIFY_CONNECTION, tare_client_notify,
	                                 &s->clients, MHD_OPTION_NOTIFY_COMPLETED, tare_client_completed, &s->clients,
	                                 MHD_OPTION_END);
}

static int wait_ms(const struct server *s)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (tare_mhd.MHD_get_timeout(s->daemon, &ms) == MHD_YES && ms < TURN_MS)
		return (int)ms;
	return TURN_MS;
}

static void loop(struct server *s, int signals)
{
	const union MHD_DaemonInfo *info = tare_mhd.MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct signalfd_siginfo asked; /* taken, so that it does not end tare once signals are let in again */

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = info->epoll_fd, .events = POLLIN },
			{ .fd = signals, .events = POLLIN },
			{ .fd = s->pages.job.pid > 0 ? s->pages.job.fd : -1, .events = POLLIN },
		};

		poll(fds, 3, wait_ms(s));
		if (fds[1].revents && read(signals, &asked, sizeof(asked)) > 0)
			return;
		tare_mhd.MHD_run(s->daemon);
		turn_pages(s);
		tare_clients_turn(&s->clients);
	}
}

static int run(struct server *s, int fd, struct tare_err *err)
{
	sigset_t ends, before;
	int signals;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	signal(SIGPIPE, SIG_IGN);
	signals = signalfd(-1, &ends, SFD_CLOEXEC);
	s->daemon = start(s, fd);
	if (!s->daemon) {
		close(fd);
		close(signals);
		return tare_err_set(err, TARE_E_IO, "serve: libmicrohttpd does not start");
	}
	s->o->ready(&s->o->address);
	loop(s, signals);
	tare_clients_resume(&s->clients, 0, 0);
	tare_mhd.MHD_stop_daemon(s->daemon);
	close(signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}

int tare_http_serve(struct tare_gather *g, const struct tare_http_options *o, struct tare_err *err)
{
	struct tare_http_options own = *o;
	struct server s = { .g = g, .o = &own, .pages.is_confidential = o->is_confidential };
	int rc = tare_http_library_open(err), fd;

	if (rc)
		return rc;
	fd = tare_address_listen(&own.address, err);
	if (fd < 0)
		return fd;
	tare_gather_turn(g, false);
	rc = run(&s, fd, err);
	tare_pages_free(&s.pages);
	return rc;
}
