/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the file of the token, and compares what a client sent. */
#include "serve/token.h"

#include "base/file.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the file ---- */

static int check_file(const char *path, int fd, struct tare_err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return tare_err_set(err, TARE_E_USAGE, "serve: %s: the token is in no regular file", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return tare_err_set(err, TARE_E_DENIED, "serve: %s belongs to another user, who could change the token", path);
	if (st.st_mode & (S_IWGRP | S_IRWXO))
		return tare_err_set(err, TARE_E_DENIED,
		                    "serve: %s: others may read the token or change it (mode %03o); "
		                    "chmod 600 %s",
		                    path, st.st_mode & 0777U, path);
	return 0;
}

static int check_text(const char *path, const char *text, size_t len, struct tare_err *err)
{
	if (len < TARE_TOKEN_LEAST || len > TARE_TOKEN_MOST)
		return tare_err_set(err, TARE_E_USAGE,
		                    "serve: %s: a token has %d to %d characters, this has %zu; "
		                    "head -c 24 /dev/urandom | base64 makes one",
		                    path, TARE_TOKEN_LEAST, TARE_TOKEN_MOST, len);
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return tare_err_set(err, TARE_E_USAGE,
			                    "serve: %s: a token is one line of letters, digits and "
			                    "signs, without blanks",
			                    path);
	return 0;
}

int tare_token_read(struct tare_token *token, const char *path, struct tare_err *err)
{
	char text[TARE_TOKEN_MOST + 16];
	int fd = tare_file_open(path, err), rc;
	size_t len = 0;
	ssize_t n;

	if (fd < 0) {
		tare_err_prefix(err, "serve");
		return fd;
	}
	rc = check_file(path, fd, err);
	while (!rc && len < sizeof(text) && (n = tare_file_read_some(fd, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;
	close(fd);
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	if (!rc)
		rc = check_text(path, text, len, err);
	if (rc)
		return rc;
	memcpy(token->text, text, len);
	token->text[len] = '\0';
	return 0;
}

/* ---- comparing ---- */

/* Takes as long whatever the given text is: it looks at as many characters as there may be. */
static bool is_equal(const struct tare_token *token, const char *given, size_t len)
{
	size_t wanted = strlen(token->text);
	unsigned differ = (unsigned)(wanted != len);

	for (size_t i = 0; i < TARE_TOKEN_MOST; i++) {
		unsigned char c = i < len ? (unsigned char)given[i] : 0;

		differ |= (unsigned)((unsigned char)token->text[i < wanted ? i : wanted] ^ c);
	}
	return differ == 0;
}

static int value_of(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Base64; what is none ends it. */
static size_t decode(const char *text, char *out, size_t size)
{
	unsigned bits = 0, n = 0;
	size_t len = 0;

	for (; value_of(*text) >= 0; text++) {
		bits = bits << 6 | (unsigned)value_of(*text);
		n += 6;
		if (n < 8)
			continue;
		n -= 8;
		if (len == size)
			return 0;
		out[len++] = (char)(bits >> n & 0xff);
	}
	return len;
}

bool tare_token_is_given(const struct tare_token *token, const char *authorization)
{
	char text[2 * TARE_TOKEN_MOST];
	const char *colon;
	size_t len;

	if (!authorization)
		return false;
	if (!strncasecmp(authorization, "Bearer ", 7)) {
		authorization += 7;
		authorization += strspn(authorization, " ");
		return is_equal(token, authorization, strlen(authorization));
	}
	if (strncasecmp(authorization, "Basic ", 6) != 0)
		return false;
	authorization += 6;
	len = decode(authorization + strspn(authorization, " "), text, sizeof(text));
	colon = memchr(text, ':', len);
	return colon && is_equal(token, colon + 1, len - (size_t)(colon + 1 - text));
}
