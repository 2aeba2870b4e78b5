/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"

#include "test.h"

#include <stdlib.h>

static FILE *open_source(const char *path, const char *mode)
{
	const char *root = getenv("TARE_SOURCE_ROOT");
	char full[4096];

	snprintf(full, sizeof(full), "%s/%s", root ? root : ".", path);
	return fopen(full, mode);
}

char *golden_read_source(const char *path)
{
	FILE *f = open_source(path, "r");
	char *text = calloc(1, 1 << 20);

	if (!f || !text)
		test_fail(__FILE__, __LINE__, "%s cannot be read; set TARE_SOURCE_ROOT", path);
	if (fread(text, 1, (1 << 20) - 1, f) == 0 && ferror(f))
		test_fail(__FILE__, __LINE__, "%s cannot be read", path);
	fclose(f);
	return text;
}

static void write_golden(const char *path, const char *text)
{
	FILE *f = open_source(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		test_fail(__FILE__, __LINE__, "%s cannot be written", path);
}

static void compare(const char *path, const char *got, const char *want)
{
	for (int line = 1; *got || *want; line++) {
		size_t g = strcspn(got, "\n"), w = strcspn(want, "\n");

		if (g != w || memcmp(got, want, g))
			test_fail(path, line, "got\n\"%.*s\"\nexpected\n\"%.*s\"", (int)g, got, (int)w, want);
		got += g + (got[g] == '\n');
		want += w + (want[w] == '\n');
	}
}

void golden_check(const char *name, const char *text)
{
	char path[256], *want;

	snprintf(path, sizeof(path), "tests/golden/%s", name);
	if (getenv("TARE_UPDATE_GOLDEN")) {
		write_golden(path, text);
		return;
	}
	want = golden_read_source(path);
	compare(path, text, want);
	free(want);
}
