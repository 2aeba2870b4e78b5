/* SPDX-License-Identifier: Apache-2.0 */
/* Turns --vram and --card into the file that recorded processes read. */
#include "session/vram.h"

#include "base/str.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "session/profiles.h"
#include "record/vram.h"
#include "witness/nvml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORDINALS 16 /* GPUs that are given a card where nobody can list them */

/* ---- the command line ---- */
static struct tare_vram_entry *find(const struct tare_vram_wish *wish, int device)
{
	for (size_t i = 0; i < wish->entry_nr; i++)
		if (wish->entries[i].device == device)
			return &wish->entries[i];
	return NULL;
}

static struct tare_vram_entry *add(struct tare_vram_wish *wish, int device)
{
	struct tare_vram_entry *entry = &wish->entries[wish->entry_nr++];

	memset(entry, 0, sizeof(*entry));
	entry->device = device;
	return entry;
}

static int read_profile(struct tare_vram_entry *entry, const char *name, struct tare_err *err)
{
	int rc = tare_profiles_open("--card", name, &entry->card, err);

	if (!rc)
		snprintf(entry->profile, sizeof(entry->profile), "%s", entry->card.name);
	return rc;
}

/* "h200", "0=h200,1=./small.profile". */
static int parse_cards(struct tare_vram_wish *wish, const char *text, struct tare_err *err)
{
	char *copy = tare_xstrdup(text), *rest, *item;
	int rc = *text ? 0 : tare_err_set(err, TARE_E_USAGE, "--card: names no profile; give one such as h200");

	for (item = strtok_r(copy, ",", &rest); item && rc == 0; item = strtok_r(NULL, ",", &rest)) {
		char *equals = strchr(item, '='), *end;
		long device = equals ? strtol(item, &end, 10) : -1;

		if (equals && (end != equals || end == item || device < 0 || device > 9999))
			rc = tare_err_set(err, TARE_E_USAGE, "--card %s: %.*s is no number of a GPU; write 0=PROFILE,1=PROFILE",
			                  text, (int)(equals - item), item);
		else if (find(wish, (int)device))
			rc = tare_err_set(err, TARE_E_USAGE, "--card %s: gives a GPU two cards; give each one", text);
		else if (wish->entry_nr == TARE_VRAM_ENTRIES)
			rc = tare_err_set(err, TARE_E_USAGE, "--card: has more than %d entries; give fewer", TARE_VRAM_ENTRIES);
		else
			rc = read_profile(add(wish, (int)device), equals ? equals + 1 : item, err);
	}
	free(copy);
	return rc;
}

static int parse_sizes(struct tare_vram_wish *wish, const char *text, struct tare_err *err)
{
	struct tare_units_device_bytes sizes[TARE_VRAM_ENTRIES];
	size_t nr = 0;

	if (tare_units_parse_device_bytes(text, sizes, TARE_VRAM_ENTRIES, &nr) != 0)
		return tare_err_set(err, TARE_E_USAGE,
		                    "--vram %s: is not a size; give one such as 8GiB, or one per GPU such as "
		                    "0=8GiB,1=16GiB",
		                    text);
	for (size_t i = 0; i < nr; i++) {
		struct tare_vram_entry *entry = find(wish, sizes[i].device), *every = find(wish, -1);

		if (!sizes[i].bytes)
			return tare_err_set(err, TARE_E_USAGE,
			                    "--vram %s: a card without memory runs nothing; give a size such as 8GiB", text);
		if (sizes[i].bytes < 1 << 20)
			return tare_err_set(err, TARE_E_USAGE,
			                    "--vram %s: without a unit a size is in bytes, and no card is that small; "
			                    "write a unit, such as 8GiB",
			                    text);
		if (!entry && wish->entry_nr == TARE_VRAM_ENTRIES)
			return tare_err_set(err, TARE_E_USAGE, "--vram: has more than %d entries; give fewer", TARE_VRAM_ENTRIES);
		if (!entry) {
			entry = add(wish, sizes[i].device);
			if (every) { /* the card is that of every GPU */
				entry->card = every->card;
				memcpy(entry->profile, every->profile, sizeof(entry->profile));
			}
		}
		entry->bytes = sizes[i].bytes;
	}
	return 0;
}

int tare_vram_parse(struct tare_vram_wish *out, const char *vram, const char *card, struct tare_err *err)
{
	struct tare_vram_wish wish = { 0 };
	int rc = 0;

	if (!vram && !card)
		return 0;
	wish.entries = tare_xcalloc(TARE_VRAM_ENTRIES, sizeof(*wish.entries));
	if (card)
		rc = parse_cards(&wish, card, err);
	if (rc == 0 && vram)
		rc = parse_sizes(&wish, vram, err);
	if (rc)
		tare_vram_free(&wish);
	else
		*out = wish;
	return rc;
}

void tare_vram_free(struct tare_vram_wish *wish)
{
	free(wish->entries);
	memset(wish, 0, sizeof(*wish));
}

/* ---- the cards ---- */
/* How the option read, for a sentence about it. */
static const char *option_of(const struct tare_vram_entry *entry, char text[160])
{
	char size[TARE_UNITS_TEXT_MAX], device[16] = "";

	if (entry->device >= 0)
		snprintf(device, sizeof(device), "%d=", entry->device);
	if (entry->bytes)
		snprintf(text, 160, "--vram %s%s", device, tare_units_human(size, entry->bytes));
	else
		snprintf(text, 160, "--card %s%s", device, entry->profile);
	return text;
}

static void fill(struct tare_vram_card *card, const struct tare_vram_entry *entry)
{
	const struct tare_profile *p = &entry->card;

	memset(card, 0, sizeof(*card));
	card->total = entry->bytes;
	if (!*entry->profile)
		return;
	if (!entry->bytes) {
		card->total = p->total;
		card->reserved = p->reserved;
	}
	card->has_profile = 1;
	card->context = p->context;
	card->stack_default = p->stack_default;
	card->stack_align = p->stack_align;
	card->local_extra = p->local_extra;
	card->page = p->page;
	card->multiprocessors = (uint32_t)p->sm_count;
	card->threads_per_multiprocessor = (uint32_t)p->threads_per_sm;
	snprintf(card->name, sizeof(card->name), "%s", entry->profile);
}

/* A smaller card cannot be larger, and one that is full already runs nothing. */
static int check_size(const struct tare_vram_entry *entry, const struct tare_vram_card *card,
                      const struct tare_nvml_device *device, const struct tare_nvml_memory *memory,
                      struct tare_err *err)
{
	char option[160], a[TARE_UNITS_TEXT_MAX], b[TARE_UNITS_TEXT_MAX];
	uint64_t wanted = card->total - card->reserved, there = memory->total, used = memory->used;

	if (memory->identity == TARE_NVML_SUM_APART && memory->reserved != TARE_NOT_KNOWN)
		there -= memory->reserved;
	if (wanted > there)
		return tare_err_set(err, TARE_E_USAGE,
		                    "%s: GPU %d (%s) has %s MiB for programs, and a larger card cannot be made of it; "
		                    "give less, or record on a larger GPU",
		                    option_of(entry, option), device->index, device->name, tare_units_count(a, there >> 20));
	if (memory->version == 2 && used != TARE_NOT_KNOWN && used >= wanted)
		return tare_err_set(err, TARE_E_LIMIT,
		                    "%s: other programs already have %s MiB of GPU %d in use, so a card of %s MiB would "
		                    "be full before this one starts; wait for them, or give more",
		                    option_of(entry, option), tare_units_count(a, used >> 20), device->index,
		                    tare_units_count(b, wanted >> 20));
	return 0;
}

static int add_cards(struct tare_vram_file *file, const struct tare_vram_wish *wish, struct tare_nvml *nvml,
                     struct tare_err *err)
{
	int rc = 0;

	for (int i = 0; i < tare_nvml_device_count(nvml) && rc == 0; i++) {
		const struct tare_nvml_device *device = tare_nvml_device(nvml, i);
		const struct tare_vram_entry *entry = find(wish, device->index);
		struct tare_vram_card *card = &file->cards[file->card_nr];
		struct tare_nvml_memory memory;

		bool may_be_used = entry || tare_visible(nvml, device);

		if (!entry)
			entry = find(wish, -1);
		if (!entry || device->is_sliced)
			continue;
		if (file->card_nr == TARE_VRAM_CARDS)
			return tare_err_set(err, TARE_E_UNSUPPORTED,
			                    "--vram: there are more than %d GPUs here; name those that matter, such as "
			                    "--vram 0=8GiB",
			                    TARE_VRAM_CARDS);
		fill(card, entry);
		card->index = device->index;
		tare_nvml_uuid(device->uuid, &card->uuid_high, &card->uuid_low);
		if (may_be_used && tare_nvml_memory(nvml, i, &memory, NULL) == 0 && memory.version)
			rc = check_size(entry, card, device, &memory, err);
		file->card_nr++;
	}
	return rc;
}

static bool is_there(struct tare_nvml *nvml, int index)
{
	for (int i = 0; i < tare_nvml_device_count(nvml); i++)
		if (tare_nvml_device(nvml, i)->index == index)
			return true;
	return false;
}

static int check_devices(const struct tare_vram_wish *wish, struct tare_nvml *nvml, struct tare_err *err)
{
	char option[160];

	for (size_t i = 0; i < wish->entry_nr; i++)
		if (wish->entries[i].device >= 0 && !is_there(nvml, wish->entries[i].device))
			return tare_err_set(err, TARE_E_USAGE,
			                    "%s: there is no GPU %d here; nvidia-smi -L lists those that there are",
			                    option_of(&wish->entries[i], option), wish->entries[i].device);
	return 0;
}

/* Without NVML: as the program numbers them. */
static void add_ordinals(struct tare_vram_file *file, const struct tare_vram_wish *wish)
{
	for (int i = 0; i < ORDINALS; i++) {
		const struct tare_vram_entry *entry = find(wish, i);

		if (!entry)
			entry = find(wish, -1);
		if (!entry)
			continue;
		fill(&file->cards[file->card_nr], entry);
		file->cards[file->card_nr++].index = i;
	}
}

/* Written as a whole before anybody maps it: a page that the disk cannot hold is then an error here. */
static int write_file(const char *path, const struct tare_vram_file *file, struct tare_err *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), rc = 0;

	if (fd < 0 || write(fd, file, sizeof(*file)) != (ssize_t)sizeof(*file))
		rc = tare_err_set_errno(err, errno, "%s: cannot be written", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

int tare_vram_make(const char *folder, const struct tare_vram_wish *wish, struct tare_nvml *nvml, struct tare_err *err)
{
	TARE_FREED_HERE struct tare_vram_file *file = tare_xcalloc(1, sizeof(*file));
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };
	int rc = 0;

	memcpy(file->magic, TARE_VRAM_MAGIC, sizeof(file->magic));
	file->version = TARE_VRAM_VERSION;
	if (nvml && tare_nvml_device_count(nvml) > 0) {
		rc = check_devices(wish, nvml, err);
		if (rc == 0)
			rc = add_cards(file, wish, nvml, err);
	} else {
		add_ordinals(file, wish);
	}
	tare_str_addf(&path, "%s/vram", folder);
	if (rc == 0)
		rc = write_file(path.data, file, err);
	return rc;
}

void tare_vram_remove(const char *folder)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	tare_str_addf(&path, "%s/vram", folder);
	unlink(path.data);
}

void tare_vram_describe(const struct tare_vram_wish *wish, struct tare_json *j)
{
	if (!wish->entry_nr)
		return;
	tare_json_open(j, "cards", '[');
	for (size_t i = 0; i < wish->entry_nr; i++) {
		tare_json_open(j, NULL, '{');
		if (wish->entries[i].device >= 0)
			tare_json_i64(j, "gpu", wish->entries[i].device);
		tare_json_u64(j, "bytes", wish->entries[i].bytes ? wish->entries[i].bytes : wish->entries[i].card.total);
		if (*wish->entries[i].profile)
			tare_json_str(j, "profile", wish->entries[i].profile);
		tare_json_close(j);
	}
	tare_json_close(j);
}
