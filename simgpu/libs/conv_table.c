/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded workspaces of convolutions: tables read, and looked up in. */
#include "simgpu/libs/conv_table.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "TARECONV";

struct reader {
	const unsigned char *at, *end;
	bool bad;
};

static uint64_t read_number(struct reader *reader)
{
	uint64_t number = 0;

	for (int shift = 0; shift < 63 && reader->at < reader->end; shift += 7) {
		unsigned char byte = *reader->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	reader->bad = true;
	return 0;
}

/* How many follow. Each takes a byte at least. */
static size_t read_count(struct reader *reader)
{
	uint64_t count = read_number(reader);

	if (count > (uint64_t)(reader->end - reader->at))
		reader->bad = true;
	return reader->bad ? 0 : (size_t)count;
}

static void read_head(struct reader *reader, struct sim_conv_table *table)
{
	size_t length;

	if (read_number(reader) != 1)
		reader->bad = true;
	table->cudnn = read_number(reader);
	table->capability = read_number(reader);
	table->processors = read_number(reader);
	length = read_count(reader);
	if (length >= sizeof(table->card)) {
		reader->bad = true;
		return;
	}
	memcpy(table->card, reader->at, length);
	table->card[length] = 0;
	reader->at += length;
}

static int64_t *read_sizes(struct reader *reader, size_t *count)
{
	uint64_t last = 0;
	int64_t *sizes;

	*count = read_count(reader);
	sizes = malloc((*count + 1) * sizeof(*sizes));
	if (!sizes) {
		reader->bad = true;
		return NULL;
	}
	for (size_t i = 0; i < *count; i++) {
		last += read_number(reader);
		if (last > INT64_MAX)
			reader->bad = true;
		sizes[i] = (int64_t)last;
	}
	return sizes;
}

static void read_rows(struct reader *reader, struct sim_conv_table *table, const int64_t *sizes, size_t size_count)
{
	uint64_t last = 0;

	table->count = read_count(reader);
	table->hashes = malloc((table->count + 1) * sizeof(*table->hashes));
	table->bytes = malloc((table->count + 1) * sizeof(*table->bytes));
	if (!table->hashes || !table->bytes) {
		reader->bad = true;
		return;
	}
	for (size_t i = 0; i < table->count && !reader->bad; i++) {
		uint64_t which;

		last += read_number(reader);
		which = read_number(reader);
		if (which >= size_count) {
			reader->bad = true;
			return;
		}
		table->hashes[i] = last;
		table->bytes[i] = sizes[which];
	}
}

bool sim_conv_table_read(struct sim_conv_table *table, const void *data, size_t size)
{
	struct reader reader = { data, (const unsigned char *)data + size, false };
	int64_t *sizes;
	size_t size_count;

	memset(table, 0, sizeof(*table));
	if (size < sizeof(magic) - 1 || memcmp(data, magic, sizeof(magic) - 1) != 0)
		return false;
	reader.at += sizeof(magic) - 1;
	read_head(&reader, table);
	if (reader.bad)
		return false;
	sizes = read_sizes(&reader, &size_count);
	if (!reader.bad)
		read_rows(&reader, table, sizes, size_count);
	free(sizes);
	if (!reader.bad && reader.at == reader.end)
		return true;
	sim_conv_table_end(table);
	return false;
}

void sim_conv_table_end(struct sim_conv_table *table)
{
	free(table->hashes);
	free(table->bytes);
	memset(table, 0, sizeof(*table));
}

bool sim_conv_hash(const struct sim_conv *conv, uint64_t *hash)
{
	char key[SIM_CONV_KEY];

	if (!sim_conv_key(conv, key, sizeof(key)))
		return false;
	*hash = 0xcbf29ce484222325;
	for (const char *c = key; *c; c++)
		*hash = (*hash ^ (unsigned char)*c) * 0x100000001b3;
	*hash >>= 24;
	return true;
}

static int64_t find(const struct sim_conv_table *table, uint64_t wanted)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->hashes[middle] == wanted)
			return table->bytes[middle];
		if (table->hashes[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

static void open_table(struct sim_conv_tables *tables, const char *path)
{
	enum { MOST = 16 << 20 };
	struct sim_conv_table table, *grown;
	FILE *file = fopen(path, "re");
	char *data = malloc(MOST);
	size_t size = file && data ? fread(data, 1, MOST, file) : 0;

	if (file)
		fclose(file);
	if (sim_conv_table_read(&table, data, size)) {
		grown = realloc(tables->tables, (tables->count + 1) * sizeof(*grown));
		if (grown) {
			tables->tables = grown;
			tables->tables[tables->count++] = table;
		} else {
			sim_conv_table_end(&table);
		}
	}
	free(data);
}

void sim_conv_tables_open(struct sim_conv_tables *tables, const char *folder)
{
	struct dirent **names = NULL;
	int count;

	count = scandir(folder, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		size_t length = strlen(names[i]->d_name);
		char path[4096];

		if (length > 5 && !strcmp(names[i]->d_name + length - 5, ".conv") &&
		    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name) < sizeof(path))
			open_table(tables, path);
		free(names[i]);
	}
	free(names);
}

void sim_conv_tables_end(struct sim_conv_tables *tables)
{
	for (size_t i = 0; i < tables->count; i++)
		sim_conv_table_end(&tables->tables[i]);
	free(tables->tables);
	memset(tables, 0, sizeof(*tables));
}

/* How near a table is to the card and version that are simulated: 0 is for the same ones; -1: another kind of card. */
static int distance(const struct sim_conv_table *table, const struct sim_conv_asker *asker)
{
	bool same_card = !strcmp(table->card, asker->card);

	if (table->capability != asker->capability || table->processors != asker->processors)
		return -1;
	if (table->cudnn == asker->cudnn)
		return same_card ? 0 : 1;
	if (table->cudnn / 100 == asker->cudnn / 100)
		return same_card ? 2 : 3;
	return -1;
}

int64_t sim_conv_lookup(const struct sim_conv_tables *tables, const struct sim_conv_asker *asker,
                        const struct sim_conv *conv, const struct sim_conv_table **table, bool *assumed)
{
	uint64_t wanted;

	if (!sim_conv_hash(conv, &wanted))
		return -1;
	for (int away = 0; away <= 3; away++) {
		for (size_t i = 0; i < tables->count; i++) {
			int64_t bytes;

			if (distance(&tables->tables[i], asker) != away)
				continue;
			bytes = find(&tables->tables[i], wanted);
			if (bytes < 0)
				continue;
			*table = &tables->tables[i];
			*assumed = away > 0;
			return bytes;
		}
	}
	return -1;
}
