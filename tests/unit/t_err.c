/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "test.h"

#include <errno.h>

TEST(set_returns_the_code_and_fills_the_text)
{
	struct tare_err e = { 0 };

	CHECK_INT(tare_err_set(&e, TARE_E_NEWER, "%s: too %s", "a.tare", "new"), TARE_E_NEWER);
	CHECK_INT(e.code, TARE_E_NEWER);
	CHECK_STR(e.text, "a.tare: too new");
	CHECK_INT(tare_err_set(NULL, TARE_E_IO, "ignored"), TARE_E_IO);
}

TEST(empty_text_is_the_sentence)
{
	struct tare_err e;

	tare_err_set(&e, TARE_E_LIMIT, "%s", "");
	CHECK_STR(e.text, "a limit was exceeded");
	CHECK_STR(tare_err_sentence(-ENOENT), "No such file or directory");
}

TEST(errno_maps_to_a_code)
{
	struct tare_err e;

	CHECK_INT(tare_err_set_errno(&e, ENOENT, "x.tare"), TARE_E_NOT_FOUND);
	CHECK_STR(e.text, "x.tare: No such file or directory");
	CHECK_INT(tare_err_set_errno(NULL, ENOSPC, "x"), TARE_E_NO_SPACE);
	CHECK_INT(tare_err_set_errno(NULL, EACCES, "x"), TARE_E_DENIED);
	CHECK_INT(tare_err_set_errno(NULL, EEXIST, "x"), TARE_E_EXISTS);
	CHECK_INT(tare_err_set_errno(NULL, EIO, "x"), TARE_E_IO);
}

TEST(prefix_and_overlong_texts)
{
	struct tare_err e;
	char big[1000];

	tare_err_set(&e, TARE_E_CORRUPT, "record 3");
	tare_err_prefix(&e, "%s", "run.tare");
	CHECK_STR(e.text, "run.tare: record 3");
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	tare_err_set(&e, TARE_E_CORRUPT, "%s", big);
	CHECK_INT(strlen(e.text), sizeof(e.text) - 1);
	tare_err_prefix(&e, "p");
	CHECK_INT(strlen(e.text), sizeof(e.text) - 1);
	tare_err_prefix(&e, "%s", big);
	CHECK_INT(strlen(e.text), sizeof(e.text) - 1);
}
