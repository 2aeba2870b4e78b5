/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the address that a server listens at, and listens. */
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAITING = 64 };

static bool take_port(const char *text, in_port_t *port)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > 65535)
		return false;
	*port = htons((uint16_t)n);
	return true;
}

static bool take_4(const char *host, const char *port, struct tare_address *out)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&out->at;

	in->sin_family = AF_INET;
	out->len = sizeof(*in);
	if (!*host)
		in->sin_addr.s_addr = htonl(INADDR_ANY);
	else if (inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1", &in->sin_addr) != 1)
		return false;
	out->is_loopback = ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return take_port(port, &in->sin_port);
}

static bool take_6(const char *host, const char *port, struct tare_address *out)
{
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)&out->at;

	in->sin6_family = AF_INET6;
	out->len = sizeof(*in);
	if (inet_pton(AF_INET6, host, &in->sin6_addr) != 1)
		return false;
	out->is_loopback = IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
	return take_port(port, &in->sin6_port);
}

int tare_address_parse(const char *text, struct tare_address *out, struct tare_err *err)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	char host[64];
	bool is_good = false;

	*out = (struct tare_address){ 0 };
	if (colon && len < sizeof(host)) {
		memcpy(host, text, len);
		host[len] = '\0';
		if (host[0] == '[' && host[len - 1] == ']') {
			host[len - 1] = '\0';
			is_good = take_6(host + 1, colon + 1, out);
		} else {
			is_good = take_4(host, colon + 1, out);
		}
	}
	return is_good ? 0
	               : tare_err_set(err, TARE_E_USAGE,
	                              "serve: --listen %s: it takes an address and a port, such as "
	                              "127.0.0.1:19400, 0.0.0.0:19400 or [::1]:19400",
	                              text);
}

int tare_address_listen(struct tare_address *a, struct tare_err *err)
{
	struct tare_str name = { 0 };
	int fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	int failure = 0;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
	    bind(fd, (struct sockaddr *)&a->at, a->len) != 0 || listen(fd, WAITING) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a->at, &a->len) != 0)
		failure = errno;
	if (!failure)
		return fd;
	if (fd >= 0)
		close(fd);
	tare_address_name(a, &name);
	tare_err_set_errno(err, failure, "serve: nothing can listen at %s", tare_str_text(&name));
	tare_str_free(&name);
	return err->code;
}

void tare_address_name(const struct tare_address *a, struct tare_str *out)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)&a->at;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&a->at;
	char text[INET6_ADDRSTRLEN] = "";

	if (a->at.ss_family == AF_INET6)
		tare_str_addf(out, "[%s]:%u", inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text)), ntohs(in6->sin6_port));
	else
		tare_str_addf(out, "%s:%u", inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)), ntohs(in->sin_port));
}

bool tare_address_is_own_name(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };

	for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (!strncasecmp(host, names[i], len) && (!host[len] || host[len] == ':'))
			return true;
	}
	return false;
}
