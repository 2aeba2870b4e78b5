/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the devices of a recording from DEVICE records: which records of different processes are about one device, and
 * what each adds to it.
 */
#include "trace/recording_private.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDINALS_MAX = 1024 }; /* of one process; more are damage */

/*
 * What makes two device records of different processes one device: the UUID on one machine, else
 * NVML's index on it, else (no NVML, and a driver that tells no UUID) the ordinal.
 */
static void key_of(const struct tare_rprocess *p, const struct tare_rec_device *rec, struct tare_str *key)
{
	for (size_t i = 0; i < sizeof(p->header.boot_id); i++)
		tare_str_addf(key, "%02x", p->header.boot_id[i]);
	if (rec->uuid_high || rec->uuid_low)
		tare_str_addf(key, " uuid %016" PRIx64 "%016" PRIx64, rec->uuid_high, rec->uuid_low);
	else if (rec->nvml_index >= 0)
		tare_str_addf(key, " nvml %d", rec->nvml_index);
	else
		tare_str_addf(key, " ordinal %d", rec->ordinal);
}

static void print_uuid(char *out, size_t size, const struct tare_rec_device *rec)
{
	uint64_t h = rec->uuid_high, l = rec->uuid_low;

	if (!h && !l)
		return;
	snprintf(out, size, "%s-%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
	         rec->flags & TARE_DEVICE_MIG ? "MIG" : "GPU", h >> 32, h >> 16 & 0xffff, h & 0xffff, l >> 48,
	         l & 0xffffffffffff);
}

static struct tare_rdevice *add(struct tare_recording *r, const struct tare_rec_device *rec)
{
	struct tare_rdevice *rd = tare_arena_alloc(&r->arena, sizeof(*rd));
	struct tare_device *d = &rd->public;

	d->index = (int)r->device_nr;
	d->nvml_index = -1;
	d->name = "";
	d->total = d->reserved = d->used = TARE_NOT_KNOWN;
	print_uuid(d->uuid, sizeof(d->uuid), rec);
	TARE_APPEND(r->devices, r->device_nr, r->device_cap) = rd;
	return rd;
}

/* What one record leaves open another may know. */
static void learn(struct tare_recording *r, struct tare_rdevice *rd, const struct tare_log_record *from)
{
	struct tare_device *d = &rd->public;
	const struct tare_rec_device *rec = from->rec.device;

	d->flags |= rec->flags;
	if (rec->nvml_index >= 0)
		d->nvml_index = rec->nvml_index;
	if (rec->total > 0 && d->total == TARE_NOT_KNOWN)
		d->total = rec->total;
	if (d->reserved == TARE_NOT_KNOWN)
		d->reserved = rec->reserved;
	if (d->used == TARE_NOT_KNOWN || rec->head.stamp < rd->used_stamp) {
		d->used = rec->used;
		rd->used_stamp = rec->head.stamp;
	}
	if (rec->multiprocessors > 0)
		d->multiprocessors = rec->multiprocessors;
	if (rec->threads_per_multiprocessor > 0)
		d->threads_per_multiprocessor = rec->threads_per_multiprocessor;
	if (rec->driver_version > 0)
		d->driver_version = rec->driver_version;
	if (!d->name[0] && from->text_len > 0)
		d->name = tare_arena_strndup(&r->arena, from->text, from->text_len);
}

static void map_ordinal(struct tare_rprocess *p, int ordinal, struct tare_device *device)
{
	struct tare_process *public = &p->public;
	bool is_known = false;

	if (public->device_nr == ORDINALS_MAX)
		return;
	for (int i = 0; i < public->device_nr; i++) {
		if (p->devices[i].ordinal == ordinal)
			return;
		is_known |= p->devices[i].device == device;
	}
	device->program_nr += public->role == TARE_ROLE_PROGRAM && !is_known;
	TARE_APPEND(p->devices, public->device_nr, p->device_cap) = (struct tare_process_device){ ordinal, device };
	public->devices = p->devices;
}

void tare_recording_add_device(struct tare_recording *r, struct tare_rprocess *p, const struct tare_log_record *from)
{
	const struct tare_rec_device *rec = from->rec.device;
	struct tare_str key = { 0 };
	struct tare_rdevice *d;
	uint64_t *index;
	bool is_new;

	if (rec->ordinal < 0)
		return;
	key_of(p, rec, &key);
	index = tare_strmap_put(&r->device_of, tare_str_text(&key), &is_new);
	tare_str_free(&key);
	if (is_new) {
		d = add(r, rec);
		d->public.machine = p->public.machine;
		d->public.host = p->public.host;
		*index = r->device_nr;
	} else {
		d = r->devices[*index - 1];
	}
	learn(r, d, from);
	map_ordinal(p, rec->ordinal, &d->public);
}
