/* SPDX-License-Identifier: Apache-2.0 */
/* The token that a client must have. */
#ifndef TARE_SERVE_TOKEN_H
#define TARE_SERVE_TOKEN_H

#include "base/err.h"

#include <stdbool.h>

enum { TARE_TOKEN_LEAST = 16, TARE_TOKEN_MOST = 512 };

struct tare_token {
	char text[TARE_TOKEN_MOST + 1]; /* "": none is needed */
};

/* Refuses a file that others may read or change, and what is no token. */
int tare_token_read(struct tare_token *token, const char *path, struct tare_err *err);

/* Is it in the value of "Authorization:"? "Bearer TOKEN", or "Basic …" with any user and the token as the password. NULL: no. */
bool tare_token_is_given(const struct tare_token *token, const char *authorization);

#endif
