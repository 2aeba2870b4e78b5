/* SPDX-License-Identifier: Apache-2.0 */
/* States of the fold of a recording, as they lie beside its segments: their bytes, and what these name. */
#include "ledger/recording_state.h"

#include <string.h>

/* ---- what a state names ---- */

static const struct tare_process *process_at(void *arg, int index)
{
	return tare_recording_process(arg, index);
}

static const struct tare_device *device_at(void *arg, int index)
{
	return tare_recording_device(arg, index);
}

static const struct tare_line_stack *python_of(void *arg, const struct tare_process *p, uint32_t id)
{
	(void)arg;
	return tare_recording_line_stack(p, id);
}

static const struct tare_stack *stack_of(void *arg, const struct tare_process *p, uint32_t id)
{
	(void)arg;
	return tare_recording_stack(p, id);
}

struct tare_ledger_names tare_ledger_names_of(struct tare_recording *recording)
{
	return (struct tare_ledger_names){ recording,
		                               tare_recording_process_nr(recording),
		                               tare_recording_device_nr(recording),
		                               process_at,
		                               device_at,
		                               python_of,
		                               stack_of };
}

/* A state names processes and devices by their numbers, so those it knew must have the same numbers now. */
void tare_ledger_add_identity(struct tare_str *out, const struct tare_recording *recording)
{
	for (int i = 0; i < tare_recording_process_nr(recording); i++) {
		const struct tare_process *p = tare_recording_process(recording, i);

		tare_str_addf(out, "%d %u-%u\n", (int)p->role, p->pid, p->generation);
	}
	tare_str_add_char(out, '\0');
	for (int i = 0; i < tare_recording_device_nr(recording); i++) {
		const struct tare_device *d = tare_recording_device(recording, i);

		tare_str_addf(out, "%s %d %s\n", d->uuid, d->nvml_index, d->name);
	}
	tare_str_add_char(out, '\0');
}

/* What is behind the identity, if it is that of this recording, which may have more by now; else NULL. */
static const char *behind_identity(const struct tare_str *saved, const char *now)
{
	const char *at = saved->data, *end = saved->data + saved->len;

	for (int i = 0; i < 2; i++) {
		size_t n = strnlen(at, (size_t)(end - at));

		if (at + n == end || strncmp(at, now, n) != 0)
			return NULL;
		at += n + 1;
		now += strlen(now) + 1;
	}
	return at;
}

bool tare_ledger_state_of(struct tare_ledger_state *out, const struct tare_str *saved,
                          const struct tare_recording *recording, int64_t until_ns)
{
	struct tare_str identity = { 0 };
	const char *at;

	tare_ledger_add_identity(&identity, recording);
	at = behind_identity(saved, identity.data);
	tare_str_free(&identity);
	if (at)
		*out = (struct tare_ledger_state){ at, saved->len - (size_t)(at - saved->data), until_ns };
	return at != NULL;
}

bool tare_loaded_state_read(struct tare_loaded_state *l, const struct tare_recording *recording, size_t i)
{
	*l = (struct tare_loaded_state){ 0 };
	if (tare_recording_read_state(recording, i, &l->bytes) &&
	    tare_ledger_state_of(&l->state, &l->bytes, recording, tare_recording_state(recording, i).until_ns))
		return true;
	tare_str_free(&l->bytes);
	return false;
}
