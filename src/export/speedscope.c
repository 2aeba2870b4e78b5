/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope's JSON (https://www.speedscope.app/file-format-schema.json): a profile of each device, weights in bytes. */
#include "base/json.h"
#include "export/export.h"

#include <inttypes.h>

static void add_frames(struct tare_json *j, const struct tare_export_stacks *s)
{
	tare_json_open(j, "shared", '{');
	tare_json_open(j, "frames", '[');
	for (size_t i = 0; i < s->frame_nr; i++) {
		const struct tare_export_frame *f = &s->frames[i];

		tare_json_open(j, NULL, '{');
		tare_json_str(j, "name", f->function);
		if (f->file[0])
			tare_json_str(j, "file", f->file);
		if (f->line)
			tare_json_u64(j, "line", f->line);
		tare_json_close(j);
	}
	tare_json_close(j);
	tare_json_close(j);
}

static bool is_shown(struct tare_export *x, const struct tare_export_sample *s)
{
	if (s->bytes < 0)
		tare_export_note(x,
		                 "%" PRId64 " bytes that are explained beyond what is in use are "
		                 "not in the file: speedscope has no negative weights",
		                 -s->bytes);
	return s->bytes > 0;
}

/* The samples first … end, which are of one device. */
static void add_profile(struct tare_json *j, struct tare_export *x, size_t first, size_t end)
{
	const struct tare_export_sample *samples = x->stacks->samples;
	struct tare_str name = { 0 };
	int64_t sum = 0;

	tare_json_open(j, NULL, '{');
	tare_json_str(j, "type", "sampled");
	tare_str_addf(&name, "%s, %s", x->stacks->frames[samples[first].frames[0]].text, x->ledger->at);
	tare_json_str(j, "name", tare_str_text(&name));
	tare_str_free(&name);
	tare_json_str(j, "unit", "bytes");
	tare_json_open(j, "samples", '[');
	for (size_t i = first; i < end; i++) {
		if (samples[i].bytes <= 0)
			continue;
		tare_json_open(j, NULL, '[');
		for (uint32_t f = 0; f < samples[i].frame_nr; f++)
			tare_json_u64(j, NULL, samples[i].frames[f]);
		tare_json_close(j);
	}
	tare_json_close(j);
	tare_json_open(j, "weights", '[');
	for (size_t i = first; i < end; i++)
		if (is_shown(x, &samples[i])) {
			tare_json_i64(j, NULL, samples[i].bytes);
			sum += samples[i].bytes;
		}
	tare_json_close(j);
	tare_json_u64(j, "startValue", 0);
	tare_json_i64(j, "endValue", sum);
	tare_json_close(j);
}

int tare_export_speedscope(struct tare_str *out, struct tare_export *x, struct tare_err *err)
{
	struct tare_json j = { .out = out };
	const struct tare_export_stacks *s = x->stacks;

	(void)err;
	tare_json_open(&j, NULL, '{');
	tare_json_str(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	tare_json_str(&j, "name", x->title);
	tare_json_str(&j, "exporter", "tare " TARE_VERSION);
	tare_json_u64(&j, "activeProfileIndex", 0);
	add_frames(&j, s);
	tare_json_open(&j, "profiles", '[');
	for (size_t first = 0, end; first < s->nr; first = end) {
		for (end = first + 1; end < s->nr && s->samples[end].device == s->samples[first].device;)
			end++;
		add_profile(&j, x, first, end);
	}
	tare_json_close(&j);
	tare_export_note_stacks(x);
	tare_json_close(&j);
	tare_str_add_char(out, '\n');
	return 0;
}
