/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the ledger of a recording that is being written, again and again. */
#include "top/follow.h"

#include "base/arena.h"
#include "base/now.h"
#include "base/xalloc.h"
#include "trace/description.h"
#include "trace/recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	SHARE = 20,     /* reading takes one part of so many of the time */
	FRESH_S = 10,   /* `tare` writes a clock every second */
	READINGS_S = 5, /* what only `tare` wrote is read that often */
	AGAIN_S = 5,    /* what could not be read is tried again */
};
#define SECOND INT64_C(1000000000)

/* ---- what the logs are ---- */

struct prints {
	uint64_t programs, tare;
	int64_t newest_s;
};

static void mix(uint64_t *print, uint64_t value)
{
	*print = (*print ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	*print ^= *print >> 29;
}

static uint64_t print_of(const char *name, const struct stat *st)
{
	uint64_t print = 0;

	for (const char *c = name; *c; c++)
		mix(&print, (unsigned char)*c);
	mix(&print, (uint64_t)st->st_size);
	mix(&print, (uint64_t)st->st_ino);
	mix(&print, (uint64_t)st->st_mtim.tv_sec);
	mix(&print, (uint64_t)st->st_mtim.tv_nsec);
	return print;
}

/* Files in no order, so prints are added up. */
static struct prints look(const char *folder)
{
	struct prints p = { 0 };
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		bool is_log = strstr(name, ".events") != NULL;

		if ((!is_log && strcmp(name, "segments.json") != 0) || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (is_log && !strncmp(name, "tare.", 5))
			p.tare += print_of(name, &st);
		else
			p.programs += print_of(name, &st);
		if (st.st_mtim.tv_sec > p.newest_s)
			p.newest_s = st.st_mtim.tv_sec;
	}
	if (dir)
		closedir(dir);
	return p;
}

/* As they are now; 0: there are none. */
static uint64_t look_at_segments(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;
	uint64_t print = 0;

	while (dir && (entry = readdir(dir)))
		if (strstr(entry->d_name, ".segment") && fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			print += print_of(entry->d_name, &st);
	if (dir)
		closedir(dir);
	return print;
}

bool tare_follow_is_fresh(const char *path)
{
	return look(path).newest_s >= tare_now_ns(CLOCK_REALTIME) / SECOND - FRESH_S;
}

/* ---- begin and end ---- */

struct tare_follow *tare_follow_new(const char *path)
{
	struct tare_follow *f = tare_xcalloc(1, sizeof(*f));
	const struct tare_json_value *json;
	struct tare_arena arena = { 0 };
	const char *slash, *profile, *state;
	struct stat st;

	f->path = tare_xstrdup(path);
	for (size_t n = strlen(f->path); n > 1 && f->path[n - 1] == '/'; n--)
		f->path[n - 1] = '\0';
	slash = strrchr(f->path, '/');
	f->label = tare_xstrdup(slash && slash[1] ? slash + 1 : f->path);
	if (stat(f->path, &st) == 0) {
		f->device = st.st_dev;
		f->inode = st.st_ino;
	}
	tare_description_read(&arena, f->path, &json, NULL);
	profile = tare_json_get_str(json, "simulated");
	state = profile ? tare_json_get_str(json, "simulated_state") : NULL;
	f->sim_profile = profile ? tare_xstrdup(profile) : NULL;
	f->sim_state = state ? tare_xstrdup(state) : profile ? tare_xstrdup("") : NULL;
	tare_arena_free(&arena);
	return f;
}

static void forget_processes(struct tare_follow *f)
{
	for (size_t i = 0; i < f->process_nr; i++)
		free(f->processes[i].name);
	free(f->processes);
	f->processes = NULL;
	f->process_nr = 0;
	free(f->host);
	f->host = NULL;
}

void tare_follow_free(struct tare_follow *f)
{
	if (!f)
		return;
	forget_processes(f);
	if (f->has_ledger)
		tare_ledger_free(&f->ledger);
	tare_ledger_live_free(&f->live);
	free(f->path);
	free(f->label);
	free(f->sim_profile);
	free(f->sim_state);
	free(f);
}

/* ---- for who shows it ---- */

/* The ledger and what goes with it is `to`'s from now on, which has none. */
static void move_ledger(struct tare_follow *to, struct tare_follow *from)
{
	to->has_ledger = from->has_ledger;
	to->ledger = from->ledger;
	to->processes = from->processes;
	to->process_nr = from->process_nr;
	to->host = from->host;
	from->has_ledger = false;
	from->ledger = (struct tare_ledger){ 0 };
	from->processes = NULL;
	from->process_nr = 0;
	from->host = NULL;
}

struct tare_follow *tare_follow_hand_over(struct tare_follow *f)
{
	struct tare_follow *told = tare_xmalloc(sizeof(*told));

	*told = *f;
	told->live = (struct tare_ledger_live){ 0 };
	told->path = tare_xstrdup(f->path);
	told->label = tare_xstrdup(f->label);
	told->sim_profile = f->sim_profile ? tare_xstrdup(f->sim_profile) : NULL;
	told->sim_state = f->sim_state ? tare_xstrdup(f->sim_state) : NULL;
	move_ledger(told, f);
	return told;
}

void tare_follow_keep(struct tare_follow *f, struct tare_follow *before)
{
	if (!f->has_ledger && before->has_ledger)
		move_ledger(f, before);
}

/* ---- reading ---- */

static void take_processes(struct tare_follow *f, const struct tare_recording *recording)
{
	int n = tare_recording_process_nr(recording);

	forget_processes(f);
	f->processes = tare_xcalloc((size_t)n + 1, sizeof(*f->processes));
	for (int i = 0; i < n; i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		if (!f->host && *p->host)
			f->host = tare_xstrdup(p->host);
		if (p->role != TARE_ROLE_PROGRAM)
			continue;
		f->processes[f->process_nr++] = (struct tare_follow_process){ p->pid, p->generation, p->pid_namespace,
			                                                          tare_xstrdup(p->program), p->is_ended };
	}
}

/* Whether blocks of its segments are damaged, or cannot be read, as the recording was opened. */
static bool has_damaged_blocks(const struct tare_recording *recording)
{
	bool is_any = tare_recording_unread_nr(recording) > 0;

	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_log *log = tare_recording_log(tare_recording_process(recording, i));

		is_any |= log && tare_log_info(log)->damaged_blocks > 0;
	}
	return is_any;
}

/*
 * To see whether they are damaged, all blocks of all segments are read, which takes the longer the more there are: segments in
 * which nothing was damaged are read for that again only when another one is there, or one is not as it was.
 */
static int open_recording(struct tare_follow *f, struct tare_recording **out)
{
	static const struct tare_log_reach unchecked = { .scope = TARE_LOG_WHOLE, .is_unchecked = true };
	uint64_t print = look_at_segments(f->path);
	int rc;

	if (print && print == f->sound_print)
		return tare_recording_open_scope(out, f->path, &unchecked, &f->failure);
	f->sound_print = 0;
	rc = tare_recording_open(out, f->path, &f->failure);
	if (!rc && tare_recording_newest_segment(*out) && !has_damaged_blocks(*out))
		f->sound_print = print;
	return rc;
}

static struct tare_ledger_opts opts_of(const struct tare_follow *f)
{
	return (struct tare_ledger_opts){ .without_tensors = true, .without_stacks = true, .is_brief = f->is_brief };
}

/* All of it, as it is now. */
static bool read_once(struct tare_follow *f, struct tare_ledger *ledger)
{
	const struct tare_instant end = { .moment = TARE_MOMENT_END, .text = "end" };
	const struct tare_ledger_opts opts = opts_of(f);
	struct tare_recording *recording;

	if (open_recording(f, &recording))
		return false;
	take_processes(f, recording);
	tare_ledger_of_recording(recording, &opts, &end, 1, ledger);
	tare_recording_close(recording);
	return true;
}

/* It stays open, and is folded further. */
static bool read_on(struct tare_follow *f, struct tare_ledger *ledger)
{
	const struct tare_ledger_opts opts = opts_of(f);
	struct tare_recording *recording;

	if (!tare_ledger_live_go_on(&f->live, &opts, ledger) &&
	    (open_recording(f, &recording) || !tare_ledger_live_begin(&f->live, recording, &opts, ledger)))
		return false;
	take_processes(f, f->live.recording);
	if (!f->live.fold)
		tare_ledger_live_free(&f->live); /* it is not kept open */
	return true;
}

/* What was known before is shown on where nothing can be read. */
static void read_ledger(struct tare_follow *f, bool is_once)
{
	struct tare_ledger ledger;

	f->failure = (struct tare_err){ 0 };
	if (!(!is_once && read_on(f, &ledger)) && (f->failure.code || !read_once(f, &ledger)))
		return;
	if (f->has_ledger)
		tare_ledger_free(&f->ledger);
	f->ledger = ledger;
	f->has_ledger = true;
}

/* What `tare` alone wrote are clocks and readings: of a GPU that NVML shows here they are seen live. */
static bool is_due(const struct tare_follow *f, const struct prints *p, int64_t now_ns)
{
	if (!f->read_ns)
		return true;
	if (now_ns < f->next_ns)
		return false;
	return p->programs != f->programs_print || f->behind_ns > 0 ||
	       (f->needs_readings && p->tare != f->tare_print && now_ns - f->read_ns >= READINGS_S * SECOND);
}

bool tare_follow_turn(struct tare_follow *f, int64_t now_ns, bool is_once)
{
	struct prints p = look(f->path);
	int64_t before;

	if (!is_due(f, &p, now_ns))
		return false;
	before = tare_now_ns(CLOCK_THREAD_CPUTIME_ID);
	read_ledger(f, is_once);
	f->cost_ns = tare_now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	f->programs_print = p.programs;
	f->tare_print = p.tare;
	f->read_ns = now_ns;
	f->next_ns = now_ns + (f->failure.code ? AGAIN_S * SECOND : f->cost_ns * SHARE);
	f->behind_ns = is_once ? 0 : tare_ledger_live_behind_ns(&f->live);
	f->reads++;
	return true;
}
