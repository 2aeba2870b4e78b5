/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: one thread, which answers from what was gathered. A client that does not read or does not finish its request is let go of after a
 * while, and there are never more than so many.
 */
#ifndef TARE_SERVE_HTTP_H
#define TARE_SERVE_HTTP_H

#include "serve/address.h"
#include "serve/gather.h"
#include "serve/token.h"

#include <stdbool.h>

struct tare_http_options {
	struct tare_address address;
	struct tare_token token;
	bool is_confidential;                              /* pages are without names and paths */
	void (*ready)(const struct tare_address *address); /* it listens now */
};

/* Serves until SIGTERM or SIGINT comes; 0, or why it could not. UNSUPPORTED: this tare was built without it. */
int tare_http_serve(struct tare_gather *g, const struct tare_http_options *o, struct tare_err *err);

#endif
