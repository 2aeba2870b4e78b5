/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs the memory of a machine as rows that sum to all of it. */
#include "weigh/machine.h"

#include "base/array.h"
#include "base/comparator.h"
#include "base/map.h"
#include "ledger/ledger.h" /* tare_row_path_add */
#include "witness/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct meminfo {
	const char *row, *key, *less;
} meminfo[] = {
#define TARE_WEIGH_MEMINFO(ROW, KEY, LESS) { ROW, KEY, LESS },
#include "weigh/meminfo.def"
#undef TARE_WEIGH_MEMINFO
};

/* 0 where it is not told: what nobody told is in `unexplained`. */
static int64_t bytes_of(const char *text, const char *key)
{
	uint64_t bytes = *key ? tare_root_kib(text, key) : 0;

	return bytes == TARE_NOT_KNOWN ? 0 : (int64_t)bytes;
}

static void add_part(struct tare_weigh_machine *m, const char *path, int64_t bytes)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->rows[i].path, path)) {
			m->rows[i].bytes += bytes;
			return;
		}
	TARE_APPEND(m->rows, m->count, m->cap) = (struct tare_weigh_part){ tare_arena_strdup(&m->arena, path), bytes };
}

/* Less than nothing is left only where two files are of two moments: that is unexplained, not a row. */
static void add_rest(struct tare_weigh_machine *m, const char *path, int64_t bytes)
{
	if (bytes > 0)
		add_part(m, path, bytes);
}

/* Of processes by what the kernel calls it. `device`: mapped pages that are in no page cache. */
struct sums {
	int64_t anon, file, shmem, device, nvmap;
};

static bool is_of_device(enum tare_weigh_kind kind)
{
	return kind == TARE_WEIGH_DRIVER || kind == TARE_WEIGH_NVMAP || kind == TARE_WEIGH_DMABUF ||
	       kind == TARE_WEIGH_APERTURES || kind == TARE_WEIGH_KERNEL || kind == TARE_WEIGH_MANAGED;
}

static struct sums add_processes(struct tare_weigh_machine *m, const struct tare_weigh_processes *all)
{
	struct sums s = { 0 };

	for (size_t i = 0; i < all->count; i++) {
		const struct tare_weigh_process *p = &all->items[i];
		struct tare_str path = { 0 };

		if (p->failure)
			continue;
		tare_row_path_add(&path, "processes");
		tare_row_path_add(&path, p->name);
		add_part(m, tare_str_text(&path), p->pss);
		tare_str_free(&path);
		s.anon += p->pss_anon;
		s.file += p->pss_file;
		s.shmem += p->pss_shmem;
		for (size_t r = 0; r < p->count; r++) {
			int64_t pss = p->rows[r].resident - p->rows[r].swap;

			s.device += is_of_device(p->rows[r].kind) ? pss : 0;
			s.nvmap += p->rows[r].kind == TARE_WEIGH_NVMAP ? pss : 0;
		}
	}
	return s;
}

static void add_rows(struct tare_weigh_machine *m, const struct tare_weigh_processes *all, const char *text)
{
	int64_t left = (int64_t)m->total, shmem = bytes_of(text, "Shmem");
	struct sums s = add_processes(m, all);

	add_rest(m, "processes that may not be read", bytes_of(text, "AnonPages") - s.anon);
	add_rest(m, "shared memory and tmpfs, not mapped", shmem - s.shmem);
	/* What is swapped in again is in the swap cache and in AnonPages: it is no row of its own. */
	add_rest(m, "page cache, not mapped",
	         bytes_of(text, "Cached") + bytes_of(text, "Buffers") - shmem - (s.file - s.device));
	add_rest(m, "nvmap/of the GPU", bytes_of(text, "NvMapMemUsed") - s.nvmap);
	for (size_t i = 0; i < m->swap_count; i++)
		if (m->swaps[i].memory != TARE_NOT_KNOWN)
			add_rest(m, "swap that is compressed/zram", (int64_t)m->swaps[i].memory);
	for (size_t i = 0; i < sizeof(meminfo) / sizeof(meminfo[0]); i++)
		add_rest(m, meminfo[i].row, bytes_of(text, meminfo[i].key) - bytes_of(text, meminfo[i].less));
	for (size_t i = 0; i < m->count; i++)
		left -= m->rows[i].bytes;
	add_part(m, "unexplained", left);
}

/* ---- swap ---- */

/* The name of a device without its folder, "" for a file. */
static const char *device_name(const char *path)
{
	return !strncmp(path, "/dev/", 5) ? path + 5 : "";
}

static uint64_t nth_number(const char *text, int n)
{
	char *end;

	for (uint64_t value;; text = end) {
		value = strtoull(text, &end, 10);
		if (end == text)
			return TARE_NOT_KNOWN;
		if (n-- == 0)
			return value;
	}
}

static void add_swap(struct tare_weigh_machine *m, const char *root, const char *line)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	char name[256], type[32];
	unsigned long long total, used;
	struct tare_weigh_swap swap;

	if (sscanf(line, "%255s %31s %llu %llu", name, type, &total, &used) != 4)
		return;
	swap = (struct tare_weigh_swap){ .name = tare_arena_strdup(&m->arena, name),
		                             .type = tare_arena_strdup(&m->arena, type),
		                             .total = total * 1024,
		                             .used = used * 1024,
		                             .written = TARE_NOT_KNOWN,
		                             .memory = TARE_NOT_KNOWN };
	if (*device_name(name) && !strchr(device_name(name), '/')) {
		/* The seventh number of a device counts sectors of 512 bytes. */
		if (!tare_root_read(&text, root, "/sys/class/block/%s/stat", device_name(name)))
			swap.written = nth_number(tare_str_text(&text), 6);
		if (swap.written != TARE_NOT_KNOWN)
			swap.written *= 512;
		if (!tare_root_read(&text, root, "/sys/block/%s/mm_stat", device_name(name)))
			swap.memory = nth_number(tare_str_text(&text), 2);
		if (swap.memory >> 53)
			swap.memory = TARE_NOT_KNOWN;
	}
	TARE_APPEND(m->swaps, m->swap_count, m->swap_cap) = swap;
}

static void read_swaps(struct tare_weigh_machine *m, const char *root)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	uint64_t pages;

	tare_root_read(&text, root, "/proc/swaps");
	for (const char *line = strchr(tare_str_text(&text), '\n'); line; line = strchr(line, '\n'))
		add_swap(m, root, ++line);
	tare_root_read(&text, root, "/proc/vmstat");
	pages = tare_root_number(tare_str_text(&text), "pswpout");
	m->swap_written = pages == TARE_NOT_KNOWN ? TARE_NOT_KNOWN : pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- users and limits ---- */

TARE_COMPARATOR(user_by_size, struct tare_weigh_user, TARE_FALLING(resident) TARE_RISING(uid))

static void add_users(struct tare_weigh_machine *m, const struct tare_weigh_processes *all)
{
	struct tare_map at = { 0 };

	for (size_t i = 0; i < all->count; i++) {
		const struct tare_weigh_process *p = &all->items[i];
		uint64_t *place;
		bool is_new;

		if (p->failure)
			continue;
		place = tare_map_put(&at, (uint64_t)p->uid, &is_new);
		if (is_new) {
			*place = m->user_count;
			TARE_APPEND(m->users, m->user_count, m->user_cap) =
				(struct tare_weigh_user){ .name = tare_arena_strdup(&m->arena, p->user), .uid = p->uid };
		}
		m->users[*place].processes++;
		m->users[*place].resident += p->pss + p->swap;
		m->users[*place].swap += p->swap;
	}
	tare_map_free(&at);
	TARE_SORT(m->users, m->user_count, user_by_size);
}

TARE_COMPARATOR(cgroup_by_size, struct tare_cgroup_memory, TARE_FALLING(current) TARE_ALPHABETIC(path))

static void add_cgroups(struct tare_weigh_machine *m, const struct tare_weigh_processes *all, const char *root)
{
	struct tare_strmap seen = { 0 };

	for (size_t i = 0; i < all->count; i++) {
		const char *path = all->items[i].cgroup;
		struct tare_cgroup_memory cgroup;
		bool is_new;

		if (all->items[i].failure || !path)
			continue;
		tare_strmap_put(&seen, path, &is_new);
		if (!is_new || tare_cgroup_memory(root, path, &cgroup))
			continue;
		cgroup.path = tare_arena_strdup(&m->arena, path);
		TARE_APPEND(m->cgroups, m->cgroup_count, m->cgroup_cap) = cgroup;
	}
	tare_strmap_free(&seen);
	TARE_SORT(m->cgroups, m->cgroup_count, cgroup_by_size);
}

void tare_weigh_machine(struct tare_weigh_machine *m, const struct tare_weigh_processes *all, const char *root,
                        bool with_rows)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	*m = (struct tare_weigh_machine){ 0 };
	tare_root_read(&text, root, "/proc/meminfo");
	m->total = tare_root_kib(tare_str_text(&text), "MemTotal");
	m->available = tare_root_kib(tare_str_text(&text), "MemAvailable");
	m->nvmap = tare_root_kib(tare_str_text(&text), "NvMapMemUsed");
	m->swap_total = tare_root_kib(tare_str_text(&text), "SwapTotal");
	m->swap_free = tare_root_kib(tare_str_text(&text), "SwapFree");
	read_swaps(m, root);
	add_users(m, all);
	add_cgroups(m, all, root);
	if (with_rows && m->total != TARE_NOT_KNOWN)
		add_rows(m, all, tare_str_text(&text));
}
