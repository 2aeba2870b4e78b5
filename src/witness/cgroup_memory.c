/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a memory cgroup has in use, by kind. */
#include "witness/cgroup.h"

#include "record/format.h" /* TARE_NOT_KNOWN */
#include "witness/root.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where each figure stands: a file with one number, or a line of memory.stat. */
struct source {
	size_t offset;
	const char *file, *key; /* one of both */
};

#define AT(FIELD) offsetof(struct tare_cgroup_memory, FIELD)

static const struct source version_1[] = {
	{ AT(current), "memory.usage_in_bytes", NULL },
	{ AT(kernel), "memory.kmem.usage_in_bytes", NULL },
	{ AT(sock), "memory.kmem.tcp.usage_in_bytes", NULL },
	{ AT(anon), NULL, "total_rss" },
	{ AT(file), NULL, "total_cache" }, /* shared memory is in it, as in version 2 */
	{ AT(shmem), NULL, "total_shmem" },
	{ AT(swap), NULL, "total_swap" },
	{ AT(inactive_file), NULL, "total_inactive_file" },
	{ 0 },
};

static const struct source version_2[] = {
	{ AT(current), "memory.current", NULL },
	{ AT(swap), "memory.swap.current", NULL },
	{ AT(anon), NULL, "anon" },
	{ AT(file), NULL, "file" },
	{ AT(shmem), NULL, "shmem" },
	{ AT(slab), NULL, "slab" },
	{ AT(sock), NULL, "sock" },
	{ AT(kernel), NULL, "kernel" }, /* Linux 5.18 */
	{ AT(inactive_file), NULL, "inactive_file" },
	{ 0 },
};

static const struct version {
	const char *mount, *limit;
	const struct source *sources;
	bool is_2;
} versions[] = {
	{ "/sys/fs/cgroup", "memory.max", version_2, true },
	{ "/sys/fs/cgroup/memory", "memory.limit_in_bytes", version_1, false },
};

/* "max" is none, and neither is what no machine has: version 1 has no word for it. */
static uint64_t read_number(const char *root, const char *folder, const char *file)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	uint64_t value = TARE_NOT_KNOWN;

	if (!tare_root_read(&text, root, "%s/%s", folder, file) && text.len && isdigit((unsigned char)text.data[0]))
		value = strtoull(text.data, NULL, 10);
	return value >= INT64_MAX - (1 << 20) ? TARE_NOT_KNOWN : value;
}

static void read_sources(const char *root, const char *folder, const struct source *s, struct tare_cgroup_memory *out)
{
	TARE_FREED_BY(tare_str_free) struct tare_str stat = { 0 };

	tare_root_read(&stat, root, "%s/memory.stat", folder);
	for (; s->file || s->key; s++)
		*(uint64_t *)((char *)out + s->offset) =
			s->file ? read_number(root, folder, s->file) : tare_root_number(tare_str_text(&stat), s->key);
}

/* The least limit of `folder` and those above it, up to where cgroups are mounted. */
static uint64_t least_limit(const char *root, char *folder, const struct version *v)
{
	uint64_t least = TARE_NOT_KNOWN, limit;

	for (char *slash; strlen(folder) >= strlen(v->mount); *slash = '\0') {
		limit = read_number(root, folder, v->limit);
		least = limit < least ? limit : least;
		slash = strrchr(folder, '/');
		if (!slash)
			break;
	}
	return least;
}

static int read_folder(const char *root, const char *path, const struct version *v, struct tare_cgroup_memory *out)
{
	char folder[PATH_MAX];

	if (snprintf(folder, sizeof(folder), "%s%s", v->mount, path) >= (int)sizeof(folder))
		return -ENODATA;
	*out = (struct tare_cgroup_memory){ .slab = TARE_NOT_KNOWN, .is_version_2 = v->is_2 };
	read_sources(root, folder, v->sources, out);
	if (out->current == TARE_NOT_KNOWN)
		return -ENODATA;
	out->max = least_limit(root, folder, v);
	return 0;
}

int tare_cgroup_memory(const char *root, const char *path, struct tare_cgroup_memory *out)
{
	if (!strcmp(path, "/"))
		path = "";
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		/* In a container the path may be the host's, and what is mounted begins at our own cgroup. */
		if (!read_folder(root, path, &versions[i], out) || (*path && !read_folder(root, "", &versions[i], out)))
			return 0;
	return -ENODATA;
}
