/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For how many convolutions of a program the workspace was not recorded on a card, and how large the largest of those is: the simulated cuDNN
 * writes a line for each plan into a file (docs/SIMGPU.md, "cuDNN"). That is most of what a prediction does not know.
 */
#include "cmd/predict.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/file.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 256 << 20 };
static const char variable[] = "TARE_SIM_CONVOLUTIONS";

void tare_predict_convolutions_begin(struct tare_predict_convolutions *c, const char *folder)
{
	const char *users = getenv(variable);
	struct tare_str path = { 0 };
	struct stat file;

	*c = (struct tare_predict_convolutions){ 0 };
	if (users && *users) { /* whose lines stand there from before, and stay */
		tare_str_add(&path, users);
		c->skip = stat(users, &file) == 0 ? (size_t)file.st_size : 0;
	} else
		tare_str_addf(&path, "%s/convolutions", folder);
	c->path = tare_str_steal(&path);
}

void tare_predict_convolutions_use(const struct tare_predict_convolutions *c)
{
	setenv(variable, c->path, 1);
}

TARE_COMPARATOR_OF_POINTERS(compare_lines, char, TARE_ALPHABETIC_BY(it))

/* "CONVOLUTION = BYTES # as of CARD, …", "… # assumed as of …" where that is another kind of card, "… # rule …". */
static void count(struct tare_predict_convolutions *c, const char *line)
{
	const char *bytes = strstr(line, " = "), *how = strstr(line, " # ");
	int64_t workspace;

	if (!bytes || !how)
		return;
	c->all++;
	if (!strncmp(how, " # as of ", 9))
		return;
	workspace = strtoll(bytes + 3, NULL, 10);
	c->unasked++;
	if (workspace > c->largest)
		c->largest = workspace;
}

/* Each process and each thread makes its own plans, of the same convolution too. */
static void count_lines(struct tare_predict_convolutions *c, char *text)
{
	char **lines = NULL, *line;
	size_t n = 0, most = 0;

	while ((line = strsep(&text, "\n")))
		TARE_APPEND(lines, n, most) = line;
	if (!lines)
		return;
	TARE_SORT(lines, n, compare_lines);
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(lines[i], lines[i - 1]))
			count(c, lines[i]);
	free(lines);
}

void tare_predict_convolutions_end(struct tare_predict_convolutions *c)
{
	struct tare_str text = { 0 };

	if (!tare_file_read(&text, c->path, MOST_BYTES, NULL) && text.len > c->skip)
		count_lines(c, text.data + c->skip);
	tare_str_free(&text);
	free(c->path);
	c->path = NULL;
}
