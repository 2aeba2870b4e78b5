/* SPDX-License-Identifier: Apache-2.0 */
#include "record/path.h"

#include "test.h"

#include <string.h>

static void leaves(const char *path, const char *wanted, bool is_library)
{
	const char *left = tare_path_short(path);

	if (strcmp(left, wanted) != 0)
		test_fail(__FILE__, __LINE__, "%s: \"%s\", not \"%s\"", path, left, wanted);
	if (strcmp(tare_path_short(left), left) != 0)
		test_fail(__FILE__, __LINE__, "%s: \"%s\" once, \"%s\" twice", path, left, tare_path_short(left));
	if (!tare_path_in_library(path) == is_library || !tare_path_in_library(left) == is_library)
		test_fail(__FILE__, __LINE__, "%s, \"%s\": is it a library's?", path, left);
}

TEST(of_the_users_own_the_last_name_is_left)
{
	leaves("/home/u/src/train.py", "train.py", false);
	leaves("src/train.py:87", "train.py:87", false);
	leaves("train.py", "train.py", false);
	leaves("/home/u/lib/python3-of-mine/a.py", "a.py", false);
	leaves("/home/u/lib/python3.old/a.py", "a.py", false);
	leaves("/home/u/a.out (deleted)", "a.out (deleted)", false);
	leaves("<stdin>", "<stdin>", false);
	leaves("/home/u/", "", false);
	leaves("", "", false);
}

TEST(of_a_librarys_its_place_is_left)
{
	leaves("/home/u/venv/lib/python3.11/site-packages/torch/nn/a.py", "/site-packages/torch/nn/a.py", true);
	leaves("/usr/lib/python3/dist-packages/numpy/a.py", "/dist-packages/numpy/a.py", true);
	leaves("/home/u/conda/lib/python3.12/threading.py", "/lib/python3.12/threading.py", true);
	leaves("/home/u/lib64/python3.13t/threading.py", "/lib64/python3.13t/threading.py", true);
	leaves("/home/u/lib/python311.zip/os.py", "/lib/python311.zip/os.py", true);
	leaves("/home/site-packages/u/venv/site-packages/a.so", "/site-packages/a.so", true);
	leaves("/tmp/torchinductor_user/ab/cab.py", "/torchinductor_", true);
	leaves("<eval_with_key>.0 from /home/u/a.py:1 in forward", "<eval_with_key>", true);
	leaves("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>", true);
}
