/* SPDX-License-Identifier: Apache-2.0 */
/* Which schema a log has: see schema_text.h. */
#include "trace/log_private.h"

#include "base/xalloc.h"
#include "record/schema_text.h"

#include <stdlib.h>
#include <string.h>

/* The text between the header and position 0, with a NUL behind it; its length without that one. A ring has none. */
static char *read_text(struct tare_log *log, size_t *size)
{
	uint32_t begin = log->info.header.header_bytes;
	bool is_there = log->info.has_file && tare_schema_is_begin(begin);
	size_t most = is_there ? begin - TARE_HEADER_BYTES : 0;
	char *text = tare_xcalloc(1, most + 1);

	if (is_there)
		tare_log_pread(log->fd, text, most, TARE_HEADER_BYTES);
	*size = strlen(text);
	return text;
}

static bool is_ours(const char *text, size_t size)
{
	return size == sizeof(tare_schema_text) - 1 && !memcmp(text, tare_schema_text, size);
}

static int no_schema(const struct tare_log *log, struct tare_err *err)
{
	const struct tare_file_header *h = &log->info.header;

	return tare_err_set(err, TARE_E_FORMAT,
	                    "%s was written by Tare %s, whose records have other fields than those of "
	                    "Tare %s, and the list of its fields is missing or damaged; open it "
	                    "with Tare %s",
	                    log->path, h->tool, TARE_VERSION, h->tool);
}

static int load_text(struct tare_log *log, struct tare_err *err)
{
	struct tare_file_header *h = &log->info.header;
	size_t size;
	TARE_FREED_HERE char *text = read_text(log, &size);
	bool is_whole = size > 0 && tare_schema_sum(text, size) == h->schema;
	int rc = 0;

	if (is_ours(text, size))
		log->info.is_header_damaged = true; /* only the sum is wrong */
	else if (is_whole || (size > 0 && log->info.is_header_damaged))
		rc = tare_schema_parse(&log->own_schema, text, size, log->path, err);
	else if (!strcmp(h->tool, TARE_VERSION))
		log->info.is_header_damaged = true; /* as this version writes them, most likely */
	else
		rc = no_schema(log, err);
	return rc;
}

/* `text`: what the log has, if that is not this version's; NULL: it is to be read from the file. */
static int load(struct tare_log *log, const char *text, struct tare_err *err)
{
	const struct tare_file_header *h = &log->info.header;
	int rc;

	if (h->schema == tare_schema_own_sum())
		return 0;
	rc = text ? tare_schema_parse(&log->own_schema, text, strlen(text), log->path, err) : load_text(log, err);
	log->schema = log->own_schema;
	return rc;
}

bool tare_log_has_runs(const struct tare_log *log)
{
	static const uint16_t kinds[] = { TARE_KIND_TENSOR, TARE_KIND_PHASE, TARE_KIND_HEAP_BLOCK, TARE_KIND_HEAP_FREED };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!tare_schema_is_alike(log->schema, kinds[i]))
			return false;
	return true;
}

int tare_log_load_schema(struct tare_log *log, struct tare_err *err)
{
	return load(log, NULL, err);
}

int tare_log_load_stored_schema(struct tare_log *log, struct tare_err *err)
{
	uint32_t sum = log->info.header.schema;
	const char *text = tare_store_schema(log->cursor.store, sum);

	if (!text && sum && sum != tare_schema_own_sum())
		return no_schema(log, err);
	return load(log, text, err);
}
