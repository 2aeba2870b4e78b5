/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_BASE_ERR_H
#define TARE_BASE_ERR_H

/*
 * How the tool reports failure. A function that can fail returns 0, or a negative code and fills a
 * struct tare_err that its caller gave it; outputs are written only on success. Nobody below
 * src/cmd prints it.
 *
 *     return tare_err_set(err, TARE_E_NEWER, "%s: recorded by Tare %s, this is %s; "
 *                         "open it with a newer tare", path, theirs, ours);
 *
 * The text is one sentence: subject, cause, next step; no trailing dot, no newline.
 * A code is one of the list below, or -errno.
 */
#define TARE_ERR_MAP(X)                                                                                                \
	X(-1001, USAGE, "the command line is wrong")                                                                       \
	X(-1002, NOT_FOUND, "there is no such thing")                                                                      \
	X(-1003, EXISTS, "the output exists already")                                                                      \
	X(-1004, FORMAT, "not a file of this kind")                                                                        \
	X(-1005, NEWER, "written by a newer version")                                                                      \
	X(-1006, TRUNCATED, "the file ends too early")                                                                     \
	X(-1007, CORRUPT, "the content contradicts itself")                                                                \
	X(-1008, RANGE, "the value is out of range")                                                                       \
	X(-1009, UNSUPPORTED, "not supported here")                                                                        \
	X(-1010, IO, "reading or writing failed")                                                                          \
	X(-1011, NO_SPACE, "no space left")                                                                                \
	X(-1012, DENIED, "permission denied")                                                                              \
	X(-1013, EMPTY, "nothing was recorded")                                                                            \
	X(-1014, CHILD, "the command could not be started")                                                                \
	X(-1015, LIMIT, "a limit was exceeded")                                                                            \
	X(-1016, INTERNAL, "a mistake inside Tare")

enum tare_err_code {
#define X(CODE, NAME, SENTENCE) TARE_E_##NAME = CODE,
	TARE_ERR_MAP(X)
#undef X
};

struct tare_err {
	int code; /* 0: no error */
	char text[512];
};

/*
 * Fills err (may be NULL) and returns code, so that it can stand in a return statement. A text that
 * does not fit is cut. An empty format stands for the sentence of the code.
 */
int tare_err_set(struct tare_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same with ": <strerror(errnum)>" at the end; returns the code that errnum maps to. */
int tare_err_set_errno(struct tare_err *err, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the text, when the caller knows the subject and the callee did not. */
void tare_err_prefix(struct tare_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "written by a newer version"; for -errno the C library's words. Never NULL. */
const char *tare_err_sentence(int code);

#endif
