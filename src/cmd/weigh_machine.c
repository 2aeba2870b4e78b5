/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's side of tare weigh: all processes in a table, users, the system's memory, swap, limits. */
#include "cmd/weigh.h"

#include "base/units.h"
#include "ledger/ledger.h" /* tare_row_path_add */
#include "weigh/explain.h"

#include <errno.h>
#include <string.h>

enum { MOST_PROCESSES = 20 };

#define HUGE .unknown = TARE_UNKNOWN_HUGE

/* ---- processes, a line each ---- */

struct line {
	int64_t pid;
	const char *name, *user;
	int64_t resident, swap, files, private, shared, gpu;
};

static const struct tare_column line_columns[] = {
	TARE_COLUMN(line, pid, NULL, "PID", ID),
	TARE_COLUMN(line, name, NULL, "NAME", TEXT),
	TARE_COLUMN(line, user, NULL, "USER", TEXT),
	TARE_COLUMN(line, resident, NULL, "RESIDENT", BYTES, .is_sum = true),
	TARE_COLUMN(line, swap, NULL, "IN SWAP", BYTES, .is_sum = true),
	TARE_COLUMN(line, files, NULL, "FILES", BYTES, .is_sum = true),
	TARE_COLUMN(line, private, NULL, "PRIVATE", BYTES, .is_sum = true),
	TARE_COLUMN(line, shared, NULL, "SHARED", BYTES, .is_sum = true),
	TARE_COLUMN(line, gpu, NULL, "GPU", BYTES, .is_sum = true),
};

/* Which column of a line a kind is in. */
static int64_t *place_in(struct line *l, enum tare_weigh_kind kind)
{
	switch (tare_figure_of_kind(kind)) {
	case TARE_FIGURE_FILES:
		return &l->files;
	case TARE_FIGURE_SHARED:
		return &l->shared;
	case TARE_FIGURE_GPU_MAPPED:
		return &l->gpu;
	default:
		return &l->private;
	}
}

void tare_weigh_print_list(struct tare_emit *e, const struct tare_weigh_processes *all)
{
	struct tare_str note = { 0 };
	size_t shown = 0;

	tare_emit_table(e, "processes", "Processes", TARE_COLUMNS(line_columns));
	for (size_t i = 0; i < all->count; i++) {
		const struct tare_weigh_process *p = &all->items[i];
		struct line l = {
			.pid = p->pid, .name = p->name, .user = p->user, .resident = p->pss + p->swap, .swap = p->swap
		};

		if (p->failure)
			continue;
		for (size_t r = 0; r < p->count; r++)
			*place_in(&l, p->rows[r].kind) += p->rows[r].resident;
		if (shown++ < MOST_PROCESSES || e->sort)
			tare_emit_add(e, &l);
		else
			tare_emit_leave_out(e, &l);
	}
	tare_emit_rest(e, "others");
	tare_emit_table_end(e);
	if (all->denied) {
		tare_str_addf(&note, "%zu process%s of others may not be read; run: sudo tare weigh", all->denied,
		              all->denied == 1 ? "" : "es");
		tare_emit_note(e, "%s", tare_str_text(&note));
	}
	tare_str_free(&note);
	tare_emit_gap(e);
}

/* ---- users ---- */

static const struct tare_column user_columns[] = {
	TARE_COLUMN(tare_weigh_user, name, "user", "USER", TEXT),
	TARE_COLUMN(tare_weigh_user, uid, "uid", NULL, ID),
	TARE_COLUMN(tare_weigh_user, processes, "processes", "PROCESSES", COUNT),
	TARE_COLUMN(tare_weigh_user, resident, "resident_bytes", "RESIDENT", BYTES),
	TARE_COLUMN(tare_weigh_user, swap, "swap_bytes", "IN SWAP", BYTES),
};

static void print_users(struct tare_emit *e, const struct tare_weigh_machine *m)
{
	if (tare_emit_is_for_people(e) && m->user_count < 2)
		return;
	tare_emit_rows(e, "users", "Users", TARE_COLUMNS(user_columns), TARE_ROWS(m->users, m->user_count));
	tare_emit_gap(e);
}

/* ---- the system ---- */

static const struct tare_column system_columns[] = {
	TARE_COLUMN(tare_weigh_part, path, "path", "", TEXT),
	TARE_COLUMN(tare_weigh_part, bytes, "bytes", "IN USE", BYTES),
};

static const char processes_path[] = "processes/";

/* People have seen the processes: here they are one row. */
static void print_system_text(struct tare_emit *e, const struct tare_weigh_machine *m)
{
	struct tare_weigh_part sum = { .path = "processes" }, all = { .path = "MemTotal" };

	for (size_t i = 0; i < m->count; i++) {
		if (!strncmp(m->rows[i].path, processes_path, sizeof(processes_path) - 1))
			sum.bytes += m->rows[i].bytes;
		all.bytes += m->rows[i].bytes;
	}
	tare_emit_table(e, "system", "System", TARE_COLUMNS(system_columns));
	tare_emit_add(e, &sum);
	for (size_t i = 0; i < m->count; i++)
		if (strncmp(m->rows[i].path, processes_path, sizeof(processes_path) - 1) != 0)
			tare_emit_add(e, &m->rows[i]);
	tare_emit_rule(e);
	tare_emit_add_as(e, &all, (struct tare_row_look){ .tone = TARE_TONE_STRONG });
	tare_emit_table_end(e);
	tare_emit_gap(e);
}

static const struct tare_column total_columns[] = {
	TARE_COLUMN(tare_weigh_machine, total, "total_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_weigh_machine, available, "available_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_weigh_machine, nvmap, "nvmap_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_weigh_machine, swap_total, "swap_total_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_weigh_machine, swap_free, "swap_free_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_weigh_machine, swap_written, "swap_written_bytes", NULL, BYTES, HUGE),
};

static void print_system(struct tare_emit *e, const struct tare_weigh_machine *m)
{
	if (tare_emit_is_for_people(e)) {
		if (m->count)
			print_system_text(e, m);
		return;
	}
	if (tare_emit_has_members(e)) {
		tare_emit_open(e, "system", '{');
		tare_emit_members(e, TARE_COLUMNS(total_columns), m);
	}
	tare_emit_rows(e, "rows", NULL, TARE_COLUMNS(system_columns), TARE_ROWS(m->rows, m->count));
	if (tare_emit_has_members(e))
		tare_emit_close(e);
}

/* ---- swap ---- */

static const struct tare_column swap_columns[] = {
	TARE_COLUMN(tare_weigh_swap, name, "device", "SWAP", TEXT),
	TARE_COLUMN(tare_weigh_swap, type, "type", "TYPE", TEXT),
	TARE_COLUMN(tare_weigh_swap, total, "total_bytes", "SIZE", BYTES),
	TARE_COLUMN(tare_weigh_swap, used, "used_bytes", "IN USE", BYTES),
	TARE_COLUMN(tare_weigh_swap, written, "written_bytes", "WRITTEN", BYTES, HUGE),
	TARE_COLUMN(tare_weigh_swap, memory, "memory_bytes", "TAKES MEMORY", BYTES, HUGE),
};

static void print_swaps(struct tare_emit *e, const struct tare_weigh_machine *m)
{
	char text[TARE_UNITS_TEXT_MAX];

	if (tare_emit_is_for_people(e) && !m->swap_count)
		return;
	tare_emit_rows(e, "swaps", "Swap", TARE_COLUMNS(swap_columns), TARE_ROWS(m->swaps, m->swap_count));
	if (m->swap_written != TARE_NOT_KNOWN)
		tare_emit_note(e, "%s MiB went out since the machine was started",
		               tare_units_mib(text, (int64_t)m->swap_written));
	tare_emit_gap(e);
}

/* ---- limits ---- */

static const struct tare_column cgroup_columns[] = {
	TARE_COLUMN(tare_cgroup_memory, path, "cgroup", "CGROUP", TEXT),
	TARE_COLUMN(tare_cgroup_memory, current, "current_bytes", "CHARGED", BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, max, "limit_bytes", "LIMIT", BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, anon, "anon_bytes", "PRIVATE", BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, file, "file_bytes", "FILES", BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, shmem, "shmem_bytes", NULL, BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, kernel, "kernel_bytes", "KERNEL", BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, slab, "slab_bytes", "SLAB", BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, sock, "sock_bytes", "SOCKETS", BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, swap, "swap_bytes", "IN SWAP", BYTES, HUGE),
	TARE_COLUMN(tare_cgroup_memory, inactive_file, "inactive_file_bytes", NULL, BYTES, HUGE),
};

enum { MOST_CGROUPS = 10 };

static void print_cgroups(struct tare_emit *e, const struct tare_weigh_machine *m)
{
	size_t most = tare_emit_is_for_people(e) ? MOST_CGROUPS : m->cgroup_count;

	if (tare_emit_is_for_people(e) && !m->cgroup_count)
		return;
	tare_emit_table(e, "cgroups", "Limits", TARE_COLUMNS(cgroup_columns));
	for (size_t i = 0; i < m->cgroup_count && i < most; i++)
		tare_emit_add(e, &m->cgroups[i]);
	tare_emit_table_end(e);
}

void tare_weigh_print_nvmap(struct tare_emit *e, const struct tare_weigh_machine *m,
                            const struct tare_weigh_processes *all)
{
	bool is_denied = false;

	for (size_t i = 0; i < all->count; i++)
		is_denied = is_denied || all->items[i].nvmap_failure == -EACCES;
	/* Below /sys/kernel/debug others are denied what is not there, too: the machine says that there is nvmap. */
	if (!is_denied || m->nvmap == TARE_NOT_KNOWN)
		return;
	tare_emit_note(e,
	               "What each process has of the GPU's memory (nvmap) only root may read: run "
	               "sudo tare weigh%s",
	               all->count == 1 ? " with this PID" : "");
}

void tare_weigh_print_limits(struct tare_emit *e, const struct tare_weigh_machine *m)
{
	bool is_any = false;

	for (size_t i = 0; i < m->cgroup_count; i++)
		is_any = is_any || m->cgroups[i].max != TARE_NOT_KNOWN;
	if (!is_any)
		return;
	tare_emit_gap(e);
	print_cgroups(e, m);
}

void tare_weigh_print_machine(struct tare_emit *e, const struct tare_weigh_machine *m,
                              const struct tare_weigh_processes *all)
{
	tare_emit_uint(e, "not_read", all->denied);
	print_users(e, m);
	print_system(e, m);
	print_swaps(e, m);
	print_cgroups(e, m);
}

/* ---- the same as the host's part of a report, which tare diff compares ---- */

struct account {
	const char *path, *label, *account;
	int64_t pid;
	bool is_leaf;
	int64_t bytes;
};

static const struct tare_column account_columns[] = {
	TARE_COLUMN(account, path, "path", NULL, TEXT),
	TARE_COLUMN(account, label, "label", NULL, TEXT),
	TARE_COLUMN(account, account, "account", NULL, TEXT),
	TARE_COLUMN(account, pid, "pid", NULL, ID, .unknown = TARE_UNKNOWN_NEGATIVE),
	TARE_COLUMN(account, is_leaf, "leaf", NULL, FLAG),
	TARE_COLUMN(account, bytes, "bytes", NULL, BYTES),
};

static void add_account(struct tare_emit *e, const char *top, const char *path, struct account a)
{
	TARE_FREED_BY(tare_str_free) struct tare_str whole = { 0 };

	tare_str_addf(&whole, "%s/%s", top, path);
	a.path = tare_str_text(&whole);
	a.is_leaf = true;
	tare_emit_add(e, &a);
}

static void print_host(struct tare_emit *e, const struct tare_weigh_process *p)
{
	char top[32];

	snprintf(top, sizeof(top), "process:%d", (int)p->pid);
	tare_emit_open(e, NULL, '{');
	tare_emit_int(e, "pid", p->pid);
	tare_emit_str(e, "name", p->name);
	tare_emit_table(e, "accounts", NULL, TARE_COLUMNS(account_columns));
	for (size_t i = 0; i < p->count; i++)
		if (p->rows[i].resident)
			add_account(e, top, p->rows[i].path,
			            (struct account){ .label = *p->rows[i].name ? p->rows[i].name : p->rows[i].path,
			                              .account = tare_weigh_kind_names[p->rows[i].kind],
			                              .pid = p->pid,
			                              .bytes = p->rows[i].resident });
	tare_emit_table_end(e);
	tare_emit_close(e);
}

/* What is in no process. Not what is free: that is the rest of the machine. */
static void print_kernel(struct tare_emit *e, const struct tare_weigh_machine *m)
{
	tare_emit_open(e, NULL, '{');
	tare_emit_null(e, "pid");
	tare_emit_str(e, "name", "system");
	tare_emit_table(e, "accounts", NULL, TARE_COLUMNS(account_columns));
	for (size_t i = 0; i < m->count; i++) {
		const struct tare_weigh_part *part = &m->rows[i];

		if (strncmp(part->path, processes_path, sizeof(processes_path) - 1) != 0 && strcmp(part->path, "free") != 0)
			add_account(e, "system", part->path,
			            (struct account){ .label = part->path, .account = "system", .pid = -1, .bytes = part->bytes });
	}
	tare_emit_table_end(e);
	tare_emit_close(e);
}

void tare_weigh_print_hosts(struct tare_emit *e, const struct tare_weigh_processes *all,
                            const struct tare_weigh_machine *m)
{
	tare_emit_open(e, "at", '{');
	tare_emit_str(e, "label", "weighed");
	tare_emit_null(e, "t_ns");
	tare_emit_close(e);
	tare_emit_open(e, "devices", '[');
	tare_emit_close(e);
	tare_emit_open(e, "host", '[');
	for (size_t i = 0; i < all->count; i++)
		if (!all->items[i].failure)
			print_host(e, &all->items[i]);
	if (m->count)
		print_kernel(e, m);
	tare_emit_close(e);
}
