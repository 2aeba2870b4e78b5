/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hint.h"
#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_word(const char *word, const char *list, const char *want)
{
	struct tare_str out = { 0 };

	CHECK_INT(tare_hint_word(&out, word, list), *want != '\0');
	CHECK_STR(tare_str_text(&out), want);
	tare_str_free(&out);
}

TEST(a_word_of_a_list)
{
	check_word("peek", "peak|peak:tensors|end", "; did you mean peak?");
	check_word("lien", "a, line, stack", "; did you mean line?");
	check_word("enormous", "peak|end", "");
	check_word("", "peak|end", "");
	check_word("x", "", "");
}

static void check_path(const char *path, const char *want)
{
	struct tare_str out = { 0 };

	tare_hint_path(&out, path, ".tare");
	CHECK_STR(tare_str_text(&out), want);
	tare_str_free(&out);
}

TEST(a_recording_of_nearly_that_name)
{
	char folder[] = "/tmp/tare-hint-XXXXXX";

	CHECK(mkdtemp(folder) && chdir(folder) == 0);
	CHECK(mkdir("train.tare", 0700) == 0 && mkdir("train.txt", 0700) == 0);
	check_path("trian.tare", "; did you mean train.tare?");
	check_path("train", "; did you mean train.tare?");
	check_path("train.tar", "; did you mean train.tare?");
	check_path("./tran.tare", "; did you mean ./train.tare?");
	check_path("other.tare", "");
	check_path("nowhere/train.tare", "");
	CHECK(rmdir("train.tare") == 0 && rmdir("train.txt") == 0 && rmdir(folder) == 0);
}
