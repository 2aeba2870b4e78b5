/* SPDX-License-Identifier: Apache-2.0 */
#include "session/cap.h"

#include "base/array.h"
#include "base/map.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "ledger/checkpoint.h"
#include "session/settled.h"
#include "trace/chunk_files.h"
#include "trace/gap.h"
#include "trace/give_back.h"
#include "trace/log.h"
#include "trace/recording.h"
#include "trace/writer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_OWN_STRING 0x80000000u

/* A record of the checkpoint, kept until its process's part is written. */
struct kept {
	struct tare_event event; /* names and texts point into the recording or into `texts` */
	union {
		struct tare_record head;
		uint8_t bytes[512];
	} rec;
	char *text;
	int64_t at_ns;
};

/* What becomes of one log. */
struct part {
	const struct tare_process *process;
	struct kept *items;
	size_t count, cap;
	uint64_t until;             /* the last stamp that the checkpoint replaces; 0: none is */
	uint64_t records;           /* how many are */
	uint64_t position;          /* below it, the checkpoint speaks */
	struct tare_strmap strings; /* text → id, of the log's own records */
	uint32_t next_string;       /* ids of our own, far from those the process still gives out */
};

struct cap {
	const char *folder;
	struct tare_settled *settled;
	struct tare_recording *recording;
	struct part *parts;
	int part_nr;
	struct tare_writer *writer;
	int error;
};

uint64_t tare_cap_used(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		const char *end = strrchr(entry->d_name, '.');

		if (((end && strcmp(end, ".events") == 0) ||
		     tare_chunk_name(entry->d_name, NULL)) &&
		    fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			sum += (uint64_t)st.st_blocks * 512;
	}
	if (dir)
		closedir(dir);
	return sum;
}

static struct part *part_of(struct cap *c, const struct tare_process *process)
{
	return process && process->index < c->part_nr ? &c->parts[process->index] : NULL;
}

/* Which logs have something to fold, and up to which of their stamps the moment reaches. */
static void find_until(struct cap *c, int64_t until_ns)
{
	struct tare_event e;

	tare_recording_rewind(c->recording);
	while (tare_recording_next(c->recording, &e)) {
		struct part *part = part_of(c, e.process);

		if (part && e.at_ns <= until_ns)
			part->records++;
	}
	for (int i = 0; i < c->part_nr; i++)
		if (c->parts[i].records > 0)
			c->parts[i].until = tare_recording_stamp(c->recording, c->parts[i].process,
								 until_ns + 1) -
					    1;
}

static void keep(void *arg, const struct tare_event *e)
{
	struct cap *c = arg;
	struct part *part = part_of(c, e->process);
	const struct tare_kind_info *info = tare_decode_kind((uint16_t)e->kind);
	struct kept *k;

	if (!part || !info || info->fixed > sizeof(k->rec))
		return;
	part->items =
		tare_array_reserve(part->items, &part->cap, part->count + 1, sizeof(*part->items));
	k = &part->items[part->count++];
	k->event = *e;
	memcpy(&k->rec, e->rec.head, info->fixed);
	k->text = tare_xstrndup(e->text ? e->text : "", e->text_len);
	/* Names live until the recording is closed or until this returns: the latter is copied. */
	k->event.name = e->name ? tare_xstrdup(e->name) : NULL;
	k->event.api = e->api ? tare_xstrdup(e->api) : NULL;
	k->event.domain = e->domain ? tare_xstrdup(e->domain) : NULL;
	k->at_ns = e->at_ns;
}

static void write_record(struct cap *c, const void *rec, size_t fixed, const void *tail,
			 size_t tail_size)
{
	int rc = c->error ? c->error : tare_writer_add(c->writer, rec, fixed, tail, tail_size);

	if (rc)
		c->error = rc;
}

static void write_raw(struct cap *c, const struct tare_log_record *rec)
{
	const void *tail = rec->text ? (const void *)rec->text : rec->pcs;
	size_t size = rec->text ? rec->text_len : rec->depth * sizeof(*rec->pcs);

	write_record(c, rec->rec.head, rec->info->fixed, tail, tail ? size : 0);
}

static void learn_string(struct part *part, const struct tare_log_record *rec)
{
	char *text;

	if (rec->info->kind != TARE_KIND_STRING)
		return;
	text = tare_xstrndup(rec->text, rec->text_len);
	*tare_strmap_put(&part->strings, text, NULL) = rec->rec.string->id;
	if (part->next_string <= rec->rec.string->id)
		part->next_string = rec->rec.string->id + 1;
	free(text);
}

static struct tare_log *open_log(const char *path)
{
	struct tare_log *log;

	return path && path[0] && tare_log_open(&log, path, NULL) == 0 ? log : NULL;
}

/* Everything up to the last record in the file that belongs before the moment, but no place that may be written yet. */
static void find_position(const struct cap *c, struct part *part)
{
	struct tare_log *log = open_log(part->process->log);
	struct tare_log_record rec;
	enum tare_log_step step;
	uint64_t below = 0;

	/* What an earlier fold gave back to the disk stays folded, also if nothing has come since. */
	part->position = part->process->checkpoint_position;
	if (log)
		below = tare_settled_below(c->settled, part->process->log,
					   tare_log_info(log)->has_ring);
	while (log && (step = tare_log_next(log, &rec)) != TARE_LOG_END)
		if (step == TARE_LOG_RECORD && !rec.is_in_ring &&
		    rec.rec.head->stamp <= part->until && rec.position + rec.bytes <= below)
			part->position = rec.position + rec.bytes;
	tare_log_close(log);
}

/* Nothing of the log is older that an earlier checkpoint does not speak for. */
static uint64_t floor_of(const struct cap *c, const struct part *part)
{
	if (part->process->checkpoint_ns < 0)
		return 0;
	return tare_recording_stamp(c->recording, part->process, part->process->checkpoint_ns);
}

/*
 * What was missing in the part that is given back to the disk, which nobody will see there any more. Of a checkpoint
 * it may have been anything.
 */
static void write_damage(struct cap *c, const struct part *part, const struct tare_gaps *gaps,
			 bool is_checkpoint)
{
	struct tare_rec_lost lost = { .head = { .kind = TARE_KIND_LOST, .stamp = part->until },
				      .first = is_checkpoint ? 0 : gaps->first,
				      .last = is_checkpoint ? part->until : gaps->last,
				      .reason = TARE_LOST_DAMAGED };

	if (gaps->count)
		write_record(c, &lost, sizeof(lost), NULL, 0);
}

/* Tables from an earlier checkpoint's part of this process, then from the log itself. */
static void write_tables_of(struct cap *c, struct part *part, const char *path, bool is_checkpoint)
{
	struct tare_log *log = open_log(path);
	struct tare_gaps gaps = { .floor = is_checkpoint ? 0 : floor_of(c, part) };
	struct tare_log_record rec;
	enum tare_log_step step;
	bool is_here = !is_checkpoint;

	while (log && (step = tare_log_next(log, &rec)) != TARE_LOG_END) {
		if (is_checkpoint || (rec.position >= part->process->checkpoint_position &&
				      rec.position < part->position))
			tare_gaps_add(&gaps, tare_log_info(log), step, &rec);
		if (step != TARE_LOG_RECORD || !rec.info)
			continue;
		if (rec.info->kind == TARE_KIND_FOLD)
			is_here = rec.rec.fold->pid == part->process->pid &&
				  rec.rec.fold->generation == part->process->generation;
		if (!is_here || (!is_checkpoint && rec.position >= part->position))
			continue;
		learn_string(part, &rec);
		if (rec.info->is_kept)
			write_raw(c, &rec);
	}
	if (log)
		tare_gaps_end(&gaps, tare_log_info(log));
	write_damage(c, part, &gaps, is_checkpoint);
	tare_log_close(log);
}

static uint32_t string_id(struct cap *c, struct part *part, const char *text)
{
	struct tare_rec_string rec = { .head = { .kind = TARE_KIND_STRING, .stamp = part->until } };
	uint64_t *id;
	bool is_new;

	if (!text || !*text)
		return 0;
	id = tare_strmap_put(&part->strings, text, &is_new);
	if (is_new) {
		*id = part->next_string++;
		rec.id = (uint32_t)*id;
		rec.bytes = (uint32_t)strlen(text);
		write_record(c, &rec, sizeof(rec), text, rec.bytes);
	}
	return (uint32_t)*id;
}

static int ordinal_of(const struct tare_process *process, const struct tare_device *device)
{
	for (int i = 0; device && i < process->device_nr; i++)
		if (process->devices[i].device == device)
			return process->devices[i].ordinal;
	return -1;
}

/* Ids, ordinals and pids of a record that checkpoint.c made: those of the log which this part stands for. */
static void name_in_part(struct cap *c, struct part *part, struct kept *k,
			 const struct tare_field *field)
{
	const struct tare_event *e = &k->event;
	const struct tare_process *about = e->about ? e->about : part->process;

	switch (field->role) {
	case TARE_FIELD_API:
		tare_encode_value(field, &k->rec, string_id(c, part, e->api));
		break;
	case TARE_FIELD_NAME:
		tare_encode_value(field, &k->rec, string_id(c, part, e->name));
		break;
	case TARE_FIELD_DOMAIN:
		tare_encode_value(field, &k->rec, string_id(c, part, e->domain));
		break;
	case TARE_FIELD_DEVICE:
		tare_encode_value(field, &k->rec, (uint64_t)ordinal_of(part->process, e->device));
		break;
	case TARE_FIELD_PID:
		tare_encode_value(field, &k->rec, about->pid);
		break;
	case TARE_FIELD_GENERATION:
		tare_encode_value(field, &k->rec, about->generation);
		break;
	default:
		break;
	}
}

static void write_kept(struct cap *c, struct part *part, struct kept *k)
{
	const struct tare_kind_info *info = tare_decode_kind((uint16_t)k->event.kind);
	size_t tail = 0;

	k->rec.head.stamp = tare_recording_stamp(c->recording, part->process, k->at_ns);
	for (int i = 0; i < info->field_nr; i++)
		name_in_part(c, part, k, &info->fields[i]);
	if (info->tail == TARE_TAIL_TEXT) {
		tail = strlen(k->text);
		tare_encode_value(&info->fields[info->field_nr - 1], &k->rec, tail);
	}
	write_record(c, &k->rec, info->fixed, k->text, tail);
}

/* Records that stand before the position but belong after the moment: threads race by microseconds. */
static void write_late(struct cap *c, struct part *part)
{
	struct tare_log *log = open_log(part->process->log);
	struct tare_log_record rec;
	enum tare_log_step step;

	while (log && (step = tare_log_next(log, &rec)) != TARE_LOG_END &&
	       rec.position < part->position)
		if (step == TARE_LOG_RECORD && rec.info && rec.rec.head->stamp > part->until &&
		    rec.info->is_event && !rec.info->is_kept)
			write_raw(c, &rec);
	tare_log_close(log);
}

static void write_part(struct cap *c, struct part *part, const char *old)
{
	struct tare_rec_fold fold = { .head = { .kind = TARE_KIND_FOLD, .stamp = part->until } };
	size_t i;

	part->next_string = FIRST_OWN_STRING;
	fold.pid = part->process->pid;
	fold.generation = part->process->generation;
	fold.position = part->position;
	fold.events = part->records + part->process->checkpoint_events;
	fold.until = part->until;
	write_record(c, &fold, sizeof(fold), NULL, 0);
	write_tables_of(c, part, old, true);
	write_tables_of(c, part, part->process->log, false);
	for (i = 0; i < part->count; i++)
		write_kept(c, part, &part->items[i]);
	write_late(c, part);
}

/* The bytes go back to the disk; what stays keeps its place, so those who still write need not know. */
static void give_back(const struct part *part)
{
	if (part->position > 0)
		tare_give_back(part->process->log, part->position);
}

static bool source_next(void *arg, struct tare_event *e)
{
	return tare_recording_next(arg, e);
}

static void source_rewind(void *arg)
{
	tare_recording_rewind(arg);
}

static int write_checkpoint(struct cap *c, const struct tare_file_header *header)
{
	struct tare_str old = { 0 }, fresh = { 0 };
	int i, rc;

	tare_str_addf(&old, "%s/checkpoint.events", c->folder);
	tare_str_addf(&fresh, "%s/checkpoint.events.new", c->folder);
	unlink(fresh.data);
	rc = tare_writer_open(&c->writer, fresh.data, header, NULL);
	if (rc == 0) {
		for (i = 0; i < c->part_nr; i++)
			if (c->parts[i].position > 0 || c->parts[i].process->checkpoint_events)
				write_part(c, &c->parts[i], old.data);
		rc = tare_writer_close(c->writer);
		rc = c->error ? c->error : rc;
	}
	if (rc == 0 && rename(fresh.data, old.data) != 0)
		rc = -errno;
	if (rc)
		unlink(fresh.data);
	tare_str_free(&old);
	tare_str_free(&fresh);
	return rc;
}

static void free_parts(struct cap *c)
{
	for (int i = 0; i < c->part_nr; i++) {
		for (size_t j = 0; j < c->parts[i].count; j++) {
			free(c->parts[i].items[j].text);
			free((char *)c->parts[i].items[j].event.name);
			free((char *)c->parts[i].items[j].event.api);
			free((char *)c->parts[i].items[j].event.domain);
		}
		free(c->parts[i].items);
		tare_strmap_free(&c->parts[i].strings);
	}
	free(c->parts);
}

/* A checkpoint stands for a moment; what it says cannot be cut at an earlier one. */
static bool has_checkpoint_at(const struct tare_recording *recording, int64_t until_ns)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++)
		if (tare_recording_process(recording, i)->checkpoint_ns >= until_ns)
			return true;
	return false;
}

/* The first stamp of what is in a ring and not in a file yet; UINT64_MAX: there is nothing. */
static uint64_t first_in_ring(const struct tare_process *process)
{
	struct tare_log *log = open_log(process->log);
	struct tare_log_record rec;
	enum tare_log_step step;
	uint64_t first = UINT64_MAX;

	if (log)
		tare_log_rewind(log, tare_log_info(log)->file_end);
	while (log && (step = tare_log_next(log, &rec)) != TARE_LOG_END)
		if (step == TARE_LOG_RECORD && rec.is_in_ring && rec.rec.head->stamp < first)
			first = rec.rec.head->stamp;
	tare_log_close(log);
	return first;
}

/* What is only in a ring will be read from the file later: a checkpoint must not say it, too. */
static int64_t before_rings(const struct tare_recording *recording, int64_t until_ns)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *process = tare_recording_process(recording, i);
		uint64_t first = first_in_ring(process);
		int64_t low = 0, high = until_ns;

		if (first == UINT64_MAX || until_ns <= 0)
			continue;
		while (low < high) { /* the last moment whose stamp is before it */
			int64_t middle = low + (high - low + 1) / 2;

			if (tare_recording_stamp(recording, process, middle + 1) <= first)
				low = middle;
			else
				high = middle - 1;
		}
		until_ns = low;
	}
	return until_ns;
}

static int checkpoint_until(struct cap *c, int64_t until_ns, const struct tare_file_header *header)
{
	int rc;

	find_until(c, until_ns);
	for (int i = 0; i < c->part_nr; i++)
		if (c->parts[i].until > 0)
			find_position(c, &c->parts[i]);
	rc = write_checkpoint(c, header);
	for (int i = 0; rc == 0 && i < c->part_nr; i++)
		give_back(&c->parts[i]);
	return rc;
}

static int fold(struct cap *c, const struct tare_file_header *header, int64_t keep_ns)
{
	struct tare_ledger_source source = { .next = source_next, .rewind = source_rewind };
	int64_t last, until;
	int i, rc;

	rc = tare_recording_open(&c->recording, c->folder, NULL);
	if (rc)
		return rc;
	source.arg = c->recording;
	last = tare_recording_last_ns(c->recording);
	until = before_rings(c->recording, last - (keep_ns < 0 ? last / 4 : keep_ns));
	if (has_checkpoint_at(c->recording, until)) {
		tare_recording_close(c->recording);
		return 0;
	}
	c->part_nr = tare_recording_process_nr(c->recording);
	c->parts = tare_xcalloc((size_t)c->part_nr, sizeof(*c->parts));
	for (i = 0; i < c->part_nr; i++)
		c->parts[i].process = tare_recording_process(c->recording, i);
	until = tare_ledger_checkpoint(&source, NULL, until, keep, c);
	/* Calls without a gap since the last checkpoint: the only cut is before it, and would lose what it says. */
	if (!has_checkpoint_at(c->recording, until))
		rc = checkpoint_until(c, until, header);
	free_parts(c);
	tare_recording_close(c->recording);
	return rc;
}

int tare_cap_fold(const char *folder, const struct tare_file_header *header, int64_t keep_ns)
{
	struct cap c = { .folder = folder, .settled = tare_settled_new(folder) };
	int rc = fold(&c, header, keep_ns);

	tare_settled_free(c.settled);
	return rc;
}
