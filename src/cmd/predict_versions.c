/* SPDX-License-Identifier: Apache-2.0 */
/* Which versions of frameworks and libraries a prediction is of: another version takes another amount of memory. */
#include "cmd/predict.h"

#include "base/str.h"
#include "trace/description.h"

#include <string.h>

void tare_predict_read_versions(const char *recording, struct tare_predict_card *card, struct tare_arena *memory)
{
	const struct tare_json_value *root = NULL, *versions;

	if (tare_description_read(memory, recording, &root, NULL) != 0)
		return;
	versions = tare_json_get(root, "versions");
	card->versions = versions && versions->type == TARE_JSON_OBJECT ? versions->first : NULL;
}

static bool is_text(const struct tare_json_value *v)
{
	return v->key && v->type == TARE_JSON_STRING;
}

/* In a line to people: NVIDIA's own packages go with the framework's, but cuDNN's, which is exchanged most often. */
static bool is_told(const char *name)
{
	return !strncmp(name, "nvidia-cudnn", 12) || (strncmp(name, "nvidia-", 7) != 0 && strncmp(name, "cuda-", 5) != 0);
}

void tare_predict_versions_json(struct tare_emit *e, const struct tare_predict_card *card)
{
	tare_emit_open(e, "versions", '{');
	tare_emit_str(e, "tare", TARE_VERSION);
	tare_emit_str(e, "profile", card->card);
	for (const struct tare_json_value *v = card->versions; v; v = v->next)
		if (is_text(v))
			tare_emit_str(e, v->key, v->text);
	tare_emit_close(e);
}

void tare_predict_note_versions(struct tare_emit *e, const struct tare_predict_card *card)
{
	TARE_FREED_BY(tare_str_free) struct tare_str s = { 0 };

	for (const struct tare_json_value *v = card->versions; v; v = v->next)
		if (is_text(v) && is_told(v->key))
			tare_str_addf(&s, "%s%s %s", s.len ? ", " : "", v->key, v->text);
	if (s.len)
		tare_emit_note(e, "  with %s", tare_str_text(&s));
}
