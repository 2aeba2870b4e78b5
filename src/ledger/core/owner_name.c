/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries are, by their names. */
#include "ledger/owner.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

bool tare_owner_is_transparent(const char *path)
{
	static const char *const prefixes[] = { "libcuda.", "libcuda_", "libcudart", "libtare_recorder" };
	const char *base = tare_text_last_part(path);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(base, prefixes[i], strlen(prefixes[i])))
			return true;
	return !strcmp(base, "libcuda");
}

bool tare_owner_is_of_language(const char *path)
{
	static const char *const prefixes[] = { "libc.so",   "libc-2.",   "ld-linux", "ld-2.",
		                                    "libstdc++", "libgcc_s.", "libc++",   "libglib-2." };
	const char *base = tare_text_last_part(path);

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(base, prefixes[i], strlen(prefixes[i])))
			return true;
	return tare_owner_is_tool(path);
}

bool tare_owner_is_tool(const char *path)
{
	return tare_owner_is_transparent(path) || !strncmp(tare_text_last_part(path), "libtare", strlen("libtare"));
}

bool tare_owner_is_pool(const char *library)
{
	static const char *const allocators[] = { "libc10_cuda", "libc10_hip" };

	for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++)
		if (!strcmp(library, allocators[i]))
			return true;
	return false;
}

const char *tare_owner_part(const char **rest, size_t *len)
{
	const char *begin = *rest, *end = begin ? strstr(begin, ": ") : NULL;

	if (!begin)
		return NULL;
	*len = end ? (size_t)(end - begin) : strlen(begin);
	*rest = end ? end + 2 : NULL;
	return begin;
}

void tare_owner_path_add(struct tare_str *path, const char *owner)
{
	const char *name;
	size_t len;

	while ((name = tare_owner_part(&owner, &len)) != NULL) {
		TARE_FREED_HERE char *copy = tare_xstrndup(name, len);

		tare_row_path_add(path, copy);
	}
}

const char *tare_owner_name(const char *library)
{
#define TARE_OWNER(PREFIX, OWNER) { PREFIX, OWNER },
	static const struct {
		const char *prefix, *owner;
	} owners[] = {
#include "ledger/core/owners.def"
	};
#undef TARE_OWNER

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (!strncmp(library, owners[i].prefix, strlen(owners[i].prefix)))
			return owners[i].owner;
	return library;
}
