/* SPDX-License-Identifier: Apache-2.0 */
/* Edits the environment of a program that is about to be executed. */
#include "recorder/exec_env.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>

#include "recorder/base/confined.h"
#include "recorder/base/environment.h"
#include "recorder/base/plib.h"
#include "recorder/base/program_memory.h"
#include "recorder/base/room.h"
#include "recorder/recorder.h"

#define PRELOAD  "LD_PRELOAD="
#define LIST_MAX (128u << 10) /* the kernel takes no longer text */

/* What is in it already, found without a fault. */
struct seen {
	size_t slots;     /* without the NULL at the end */
	const char *list; /* of LD_PRELOAD, NULL: none */
	size_t list_length;
	uint32_t carried;  /* bit i: a value for tare_environment_carried(i) */
	bool is_recording; /* TARE_RECORDING */
	bool is_readable;
};

/* Whether `line` is of the name of one of our lines. */
static bool has_name_of(struct tare_program_memory *memory, const char *line, const char *own)
{
	for (;; line++, own++)
		if (!tare_program_can_read(memory, line) || *line != *own)
			return false;
		else if (*own == '=')
			return true;
}

static void see_line(struct seen *seen, struct tare_program_memory *memory, const char *line)
{
	const char *list = tare_program_value(memory, line, "LD_PRELOAD");
	bool is_ours;
	int i;

	if (list && !seen->list) {
		seen->list = list;
		seen->list_length = tare_program_length(memory, list, LIST_MAX);
		seen->is_readable &= seen->list_length < LIST_MAX;
	}
	seen->is_recording |= tare_program_value(memory, line, "TARE_RECORDING") != NULL;
	for (i = 0; i < TARE_ENVIRONMENT_MAX; i++) {
		const char *own = tare_environment_carried(i, &is_ours);

		if (own && has_name_of(memory, line, own))
			seen->carried |= 1u << i;
	}
}

static struct seen see(char *const envp[])
{
	struct seen seen = { .is_readable = true };
	struct tare_program_memory slots = { 0 }, texts = { 0 };

	for (; envp && seen.is_readable; envp++) {
		seen.is_readable = tare_program_can_read_all(&slots, envp, sizeof(*envp));
		if (!seen.is_readable || !*envp)
			break;
		seen.slots++;
		if (tare_program_can_read(&texts, *envp))
			see_line(&seen, &texts, *envp);
		else
			seen.is_readable = false;
	}
	return seen;
}

/* Where our libraries stand in the list; NULL: nowhere. */
static const char *own_place(const struct seen *seen, size_t own_length)
{
	const char *at, *end = seen->list ? seen->list + seen->list_length : NULL;

	for (at = seen->list; at && at + own_length <= end; at++)
		if (tare_plib_starts(at, tare_config.preload) &&
		    (at[own_length] == '\0' || at[own_length] == ':' || at[own_length] == ' '))
			return at;
	return NULL;
}

static size_t length_of(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

/* The list with our libraries in front, or without it; NULL: then nothing is left of it. */
static char *write_list(const struct seen *seen, bool is_bare, char *out, size_t size)
{
	size_t own_length = length_of(tare_config.preload), n, i;
	const char *list = seen->list ? seen->list : "", *own = own_place(seen, own_length);

	if (!is_bare) {
		tare_plib_format(out, size, PRELOAD "%s%s%s", own ? "" : tare_config.preload, own || !*list ? "" : ":", list);
		return out;
	}
	n = tare_plib_format(out, size, PRELOAD);
	for (i = 0; list[i]; i++) {
		if (list + i == own)
			i += own_length - (list[i + own_length] == '\0');
		else
			out[n++] = list[i];
	}
	while (n > sizeof(PRELOAD) - 1 && own && own[own_length] == '\0' && (out[n - 1] == ':' || out[n - 1] == ' '))
		n--; /* it was the last */
	out[n] = '\0';
	return n > sizeof(PRELOAD) - 1 ? out : NULL;
}

/* A line that is there because of us: as we would have put it in. */
static bool is_our_line(struct tare_program_memory *memory, const char *line)
{
	bool is_ours;
	int i;

	for (i = 0; i < TARE_ENVIRONMENT_MAX; i++) {
		const char *own = tare_environment_carried(i, &is_ours);

		if (own && is_ours && has_name_of(memory, line, own) &&
		    tare_program_length(memory, line, LIST_MAX) < LIST_MAX && tare_plib_equal(line, own))
			return true;
	}
	return false;
}

static char *const *write_slots(char *const given[], const struct seen *seen, bool is_bare, char **slots, char *list)
{
	struct tare_program_memory memory = { 0 };
	size_t n = 0, i;
	bool is_ours;
	int k;

	if (list)
		slots[n++] = list;
	for (i = 0; i < seen->slots; i++)
		if (!tare_program_value(&memory, given[i], "LD_PRELOAD") && !(is_bare && is_our_line(&memory, given[i])))
			slots[n++] = given[i];
	for (k = 0; !is_bare && k < TARE_ENVIRONMENT_MAX; k++) {
		const char *own = tare_environment_carried(k, &is_ours);

		if (own && !(seen->carried & 1u << k))
			slots[n++] = (char *)own;
	}
	slots[n] = NULL;
	return slots;
}

/* Leaves the program's where there is no memory. */
static void edit(struct tare_exec_env *env, const struct seen *seen, bool is_bare)
{
	size_t slots = (seen->slots + TARE_ENVIRONMENT_MAX + 2) * sizeof(char *);
	size_t size = sizeof(PRELOAD) + length_of(tare_config.preload) + seen->list_length + 2;
	char *room = tare_room_take(slots + size), *list;

	if (!room)
		return;
	list = seen->list || !is_bare ? write_list(seen, is_bare, room + slots, size) : NULL;
	env->envp = write_slots(env->given, seen, is_bare, (char **)room, list);
	env->room = room;
}

/* Confined, we can neither look at anything nor be loaded to any use. */
static bool is_wanted(void)
{
	return tare_config.enabled && tare_config.preload[0] && tare_may_syscall();
}

void tare_exec_env_begin(struct tare_exec_env *env, const struct tare_exec_target *target, char *const given[])
{
	struct seen seen;

	*env = (struct tare_exec_env){ .given = given, .envp = given };
	if (!is_wanted())
		return;
	seen = see(given);
	if (!seen.is_readable)
		return; /* the kernel will say so */
	env->is_bare = !tare_exec_target_loads_us(target);
	if (env->is_bare || !seen.is_recording || !own_place(&seen, length_of(tare_config.preload)))
		edit(env, &seen, env->is_bare);
}

bool tare_exec_env_again(struct tare_exec_env *env, int failure)
{
	struct seen seen;

	tare_room_give(env->room);
	env->room = NULL;
	if (failure != E2BIG || env->is_bare || !is_wanted())
		return false;
	seen = see(env->given);
	if (!seen.is_readable)
		return false;
	env->is_bare = true;
	edit(env, &seen, true);
	return env->room != NULL;
}
