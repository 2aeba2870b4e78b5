/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in the struct of an error: a code, a sentence, and what stands in front of it. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int code;
	const char *sentence;
} map[] = {
#define X(CODE, NAME, SENTENCE) { CODE, SENTENCE },
	TARE_ERR_MAP(X)
#undef X
};

enum { MAP_LEN = sizeof(map) / sizeof(map[0]) };

const char *tare_err_sentence(int code)
{
	for (size_t i = 0; i < MAP_LEN; i++)
		if (map[i].code == code)
			return map[i].sentence;
	return code ? strerror(code < 0 ? -code : code) : "no error";
}

int tare_err_set(struct tare_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	if (!err->text[0])
		snprintf(err->text, sizeof(err->text), "%s", tare_err_sentence(code));
	return code;
}

static int code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
		return TARE_E_NOT_FOUND;
	case EEXIST:
		return TARE_E_EXISTS;
	case EACCES:
	case EPERM:
	case EROFS:
		return TARE_E_DENIED;
	case ENOSPC:
	case EDQUOT:
		return TARE_E_NO_SPACE;
	default:
		return TARE_E_IO;
	}
}

int tare_err_set_errno(struct tare_err *err, int errnum, const char *fmt, ...)
{
	int code = code_of_errno(errnum);
	size_t len;
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(errnum));
	return code;
}

void tare_err_prefix(struct tare_err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	size_t len;
	va_list ap;

	if (!err)
		return;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	if (len + 2 < sizeof(err->text))
		snprintf(err->text + len, sizeof(err->text) - len, ": %.*s", (int)(sizeof(err->text) - len - 3), old);
}
