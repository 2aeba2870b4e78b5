/* SPDX-License-Identifier: Apache-2.0 */
/* A table of recorded workspaces, written. tools/conv-table.py writes the same from files of answers. */
#include "simgpu/libs/conv_table.h"

#include <stdlib.h>
#include <string.h>

struct writer {
	unsigned char *bytes;
	size_t count, room;
	bool bad;
};

static void put(struct writer *writer, const void *bytes, size_t count)
{
	if (writer->room - writer->count < count) {
		size_t room = 2 * (writer->count + count);
		unsigned char *grown = realloc(writer->bytes, room);

		if (!grown) {
			writer->bad = true;
			return;
		}
		writer->bytes = grown;
		writer->room = room;
	}
	memcpy(writer->bytes + writer->count, bytes, count);
	writer->count += count;
}

static void put_number(struct writer *writer, uint64_t number)
{
	unsigned char text[10];
	size_t count = 0;

	for (; number >= 0x80; number >>= 7)
		text[count++] = (unsigned char)(number | 0x80);
	text[count++] = (unsigned char)number;
	put(writer, text, count);
}

static int rising(const void *a, const void *b)
{
	int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

	return one < other ? -1 : one > other;
}

/* The different sizes, rising. NULL: there is no memory. */
static int64_t *sizes_of(const struct sim_conv_table *table, size_t *count)
{
	int64_t *sizes = malloc((table->count + 1) * sizeof(*sizes));

	*count = 0;
	if (!sizes)
		return NULL;
	memcpy(sizes, table->bytes, table->count * sizeof(*sizes));
	qsort(sizes, table->count, sizeof(*sizes), rising);
	for (size_t i = 0; i < table->count; i++)
		if (!*count || sizes[i] != sizes[*count - 1])
			sizes[(*count)++] = sizes[i];
	return sizes;
}

static void put_rows(struct writer *writer, const struct sim_conv_table *table, const int64_t *sizes, size_t size_count)
{
	uint64_t last = 0;

	put_number(writer, size_count);
	for (size_t i = 0; i < size_count; i++)
		put_number(writer, (uint64_t)(sizes[i] - (i ? sizes[i - 1] : 0)));
	put_number(writer, table->count);
	for (size_t i = 0; i < table->count; i++) {
		const int64_t *size = bsearch(&table->bytes[i], sizes, size_count, sizeof(*sizes), rising);

		put_number(writer, table->hashes[i] - last);
		put_number(writer, (uint64_t)(size - sizes));
		last = table->hashes[i];
	}
}

unsigned char *sim_conv_table_pack(const struct sim_conv_table *table, size_t *size)
{
	struct writer writer = { 0 };
	size_t size_count, length = strlen(table->card);
	int64_t *sizes = sizes_of(table, &size_count);

	if (!sizes)
		return NULL;
	put(&writer, "TARECONV", 8);
	put_number(&writer, 1);
	put_number(&writer, table->cudnn);
	put_number(&writer, table->capability);
	put_number(&writer, table->processors);
	put_number(&writer, length);
	put(&writer, table->card, length);
	put_rows(&writer, table, sizes, size_count);
	free(sizes);
	*size = writer.count;
	if (!writer.bad)
		return writer.bytes;
	free(writer.bytes);
	return NULL;
}
