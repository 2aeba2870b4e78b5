/* SPDX-License-Identifier: Apache-2.0 */
#include "record/script.h"

#include "test.h"

#include <string.h>

/* ARGS are words with blanks between them. */
static void calls_it(const char *args, const char *wanted)
{
	char words[256] = { 0 }, name[16];

	strcpy(words, args);
	for (char *c = words; *c; c++)
		if (*c == ' ')
			*c = '\0';
	tare_script_name(name, sizeof(name), words);
	if (strcmp(name, wanted) != 0)
		test_fail(__FILE__, __LINE__, "%s: \"%s\", not \"%s\"", args, name, wanted);
}

TEST(a_script_has_its_file_name)
{
	calls_it("python3 train.py", "train.py");
	calls_it("python3 /a/b/train.py --lr 1", "train.py");
	calls_it("python3 -u -B ./train.py -m x", "train.py");
	calls_it("python3 -uB train.py", "train.py");
	calls_it("python3 a-name-that-is-too-long.py", "a-name-that-is-");
}

TEST(values_of_options_are_no_scripts)
{
	calls_it("python3 -W ignore -X dev train.py", "train.py");
	calls_it("python3 -Wignore -Xdev train.py", "train.py");
	calls_it("python3 -uX dev train.py", "train.py");
	calls_it("python3 --check-hash-based-pycs always train.py", "train.py");
}

TEST(a_module_has_its_name)
{
	calls_it("python3 -m torch.run x.py", "torch.run");
	calls_it("python3 -um timeit", "timeit");
	calls_it("python3 -mtimeit x", "timeit");
}

TEST(a_package_has_its_folders_name)
{
	calls_it("python3 /lib/compile_worker/__main__.py --n 2", "compile_worker");
	calls_it("python3 __main__.py", "__main__.py");
}

TEST(what_has_no_name)
{
	calls_it("python3 -c print(1)", "-c");
	calls_it("python3 -Ic print(1)", "-c");
	calls_it("python3", "");
	calls_it("python3 -", "");
	calls_it("python3 -u", "");
	calls_it("python3 -W", "");
	calls_it("python3 -m", "");
	calls_it("", "");
}

TEST(only_interpreters_have_scripts)
{
	CHECK(tare_script_is_python("python3.11") && tare_script_is_python("python") && tare_script_is_python("pypy3"));
	CHECK(!tare_script_is_python("torchrun") && !tare_script_is_python("") && !tare_script_is_python("pyth"));
}
