/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recording.json, the description of a recording, as a JSON value. */
#include "trace/description.h"

#include "base/file.h"
#include "base/str.h"

enum { DESCRIPTION_MAX = 16 << 20 };

int tare_description_read(struct tare_arena *arena, const char *folder, const struct tare_json_value **value,
                          struct tare_err *err)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 }, text = { 0 };
	int rc;

	*value = NULL;
	tare_str_addf(&path, "%s/recording.json", folder);
	rc = tare_file_read(&text, tare_str_text(&path), DESCRIPTION_MAX, err);
	if (!rc && text.len)
		rc = tare_json_parse(arena, tare_arena_strndup(arena, text.data, text.len), text.len, value, err);
	if (rc)
		*value = NULL;
	return rc;
}
