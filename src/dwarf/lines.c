/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of addresses so far, and of files of which nothing can be told. */
#include "dwarf/dwarf.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "dwarf/helper.h"
#include "dwarf/object.h"

#include <stdlib.h>
#include <string.h>

struct place {
	const struct tare_dwarf_frame *frames;
	size_t count;
};

/* Why nothing can be told of a file. */
enum failure { NONE, ANOTHER, GONE, PACKED, DAMAGED, FAILURE_NR };

static const char *const reasons[FAILURE_NR] = {
	[ANOTHER] = "there is another file now than when it was recorded",
	[GONE] = "there is no such file here, or none that may be opened",
	[PACKED] = "debug information that is packed with zstd cannot be read; "
			   "objcopy --decompress-debug-sections unpacks it",
	[DAMAGED] = "the debug information is damaged, or reading it took too long",
};

struct file {
	const char *path;
	uint64_t build_id[2];
	bool has_lines;
	enum failure failure;
	uint32_t helper; /* the number of the one that knows it */
	struct tare_map place_of;
};

static struct {
	struct file *files;
	size_t file_nr, file_cap;
	struct place *places;
	size_t place_nr, place_cap;
	const char *failures[FAILURE_NR];
	struct tare_arena memory;
} known;

/* ---- files ---- */

/* A file that was stripped is not worth a sentence. */
static void look_at(struct file *file)
{
	switch (tare_dwarf_object_look(file->path, file->build_id)) {
	case TARE_DWARF_HAS_LINES:
		file->has_lines = true;
		break;
	case TARE_DWARF_IS_PACKED:
		file->failure = PACKED;
		break;
	case TARE_DWARF_IS_ANOTHER:
		file->failure = ANOTHER;
		break;
	case TARE_DWARF_IS_GONE:
		file->failure = GONE;
		break;
	default:
		break;
	}
}

static struct file *file_of(const char *path, const uint64_t build_id[2])
{
	struct file *file;

	for (size_t i = known.file_nr; i-- > 0;)
		if (!memcmp(known.files[i].build_id, build_id, sizeof(known.files[i].build_id)) &&
		    !strcmp(known.files[i].path, path))
			return &known.files[i];
	file = &TARE_APPEND(known.files, known.file_nr, known.file_cap);
	*file = (struct file){ .path = tare_arena_strdup(&known.memory, path), .build_id = { build_id[0], build_id[1] } };
	if (path[0] == '/' && (build_id[0] || build_id[1])) /* else it was recorded without paths */
		look_at(file);
	return file;
}

/* ---- answers ---- */

/* A text of an answer; its end. */
static const char *take_text(const char *at, const char *end, uint32_t len, const char **out)
{
	*out = NULL;
	if (len == UINT32_MAX)
		return at;
	if (len > (size_t)(end - at))
		return end;
	*out = tare_arena_strndup(&known.memory, at, len);
	return at + len;
}

static size_t take_frames(const struct tare_str *answer, struct tare_dwarf_frame *frames)
{
	const char *at = tare_str_text(answer), *end = at + answer->len;
	struct tare_dwarf_answer head;
	size_t count = 0;

	while (count < TARE_DWARF_FRAMES && (size_t)(end - at) >= sizeof(head)) {
		struct tare_dwarf_frame *frame = &frames[count++];

		memcpy(&head, at, sizeof(head));
		frame->line = head.line;
		at = take_text(at + sizeof(head), end, head.function_len, &frame->function);
		at = take_text(at, end, head.file_len, &frame->file);
	}
	return count;
}

static struct place ask(struct file *file, uint64_t address)
{
	uint32_t number = tare_dwarf_helper_number();
	struct tare_dwarf_question q = { .address = address, .file = (uint32_t)(file - known.files) };
	struct tare_dwarf_frame frames[TARE_DWARF_FRAMES], *kept;
	struct tare_str answer = { 0 };
	struct place place = { 0 };

	if (!number) {
		file->has_lines = false;
		return place;
	}
	q.path_len = file->helper == number ? 0 : (uint32_t)strlen(file->path);
	file->helper = number;
	if (tare_dwarf_ask(&q, file->path, &answer)) {
		place.count = take_frames(&answer, frames);
		kept = tare_arena_alloc(&known.memory, (place.count + 1) * sizeof(*kept));
		memcpy(kept, frames, place.count * sizeof(*kept));
		place.frames = kept;
	} else {
		file->has_lines = false;
		file->failure = DAMAGED;
	}
	tare_str_free(&answer);
	return place;
}

size_t tare_dwarf_find(const char *path, const uint64_t build_id[2], uint64_t address,
                       const struct tare_dwarf_frame **out)
{
	struct file *file = file_of(path, build_id);
	const uint64_t *found = tare_map_get(&file->place_of, address);
	struct place place;

	if (!found && !file->has_lines)
		return 0;
	if (!found) {
		place = ask(file, address);
		TARE_APPEND(known.places, known.place_nr, known.place_cap) = place;
		*tare_map_put(&file->place_of, address, NULL) = known.place_nr;
	} else {
		place = known.places[*found - 1];
	}
	*out = place.frames;
	return place.count;
}

/* "no lines of A and 2 more are known: …"; false: no file has this failure. */
static bool add_sentence(struct tare_str *out, enum failure failure)
{
	const char *first = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < known.file_nr; i++)
		if (known.files[i].failure == failure && !nr++)
			first = known.files[i].path;
	if (!nr)
		return false;
	tare_str_addf(out, "no lines of %s ", first);
	if (nr > 1)
		tare_str_addf(out, "and %zu more files ", nr - 1);
	tare_str_addf(out, "are known: %s", reasons[failure]);
	return true;
}

size_t tare_dwarf_failures(const char *const **out)
{
	size_t nr = 0;

	for (int failure = NONE + 1; failure < FAILURE_NR; failure++) {
		struct tare_str text = { 0 };

		if (add_sentence(&text, (enum failure)failure))
			known.failures[nr++] = tare_arena_strdup(&known.memory, tare_str_text(&text));
		tare_str_free(&text);
	}
	*out = known.failures;
	return nr;
}

void tare_dwarf_close(void)
{
	tare_dwarf_helper_end();
	for (size_t i = 0; i < known.file_nr; i++)
		tare_map_free(&known.files[i].place_of);
	free(known.files);
	free(known.places);
	tare_arena_free(&known.memory);
	memset(&known, 0, sizeof(known));
}
