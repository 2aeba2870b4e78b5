/* SPDX-License-Identifier: Apache-2.0 */
/* Finds processes on the GPU that should be recorded and are not. */
#include "session/witness.h"

#include "base/str.h"
#include "base/xalloc.h"
#include "session/recorded.h"
#include "witness/procfs.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KNOWN_MAX 256

enum verdict { SUSPECT, CLEARED, STRANGER };

struct tare_unrecorded {
	char *folder;
	uint64_t pid_namespace;
	struct {
		pid_t pid;
		enum verdict verdict;
	} known[KNOWN_MAX];
	int known_nr, count;
};

struct tare_unrecorded *tare_unrecorded_new(const char *folder)
{
	struct tare_unrecorded *s = tare_xcalloc(1, sizeof(*s));

	s->folder = tare_xstrdup(folder);
	if (tare_procfs_pid_namespace(0, &s->pid_namespace) != 0)
		s->pid_namespace = 0;
	return s;
}

void tare_unrecorded_free(struct tare_unrecorded *s)
{
	if (!s)
		return;
	free(s->folder);
	free(s);
}

static bool has_log(const struct tare_unrecorded *s, pid_t pid)
{
	TARE_FREED_BY(tare_str_free) struct tare_str path = { 0 };

	tare_str_addf(&path, "%s/%d-0.events", s->folder, (int)pid);
	return access(path.data, F_OK) == 0;
}

/* False too for what we may not read. */
static bool was_to_be_recorded(const struct tare_unrecorded *s, pid_t pid)
{
	char text[24], *its;
	bool is;

	snprintf(text, sizeof(text), "%d", (int)pid);
	its = tare_recorded_to_be(text);
	is = its && strcmp(its, s->folder) == 0;
	free(its);
	return is;
}

/* In another pid namespace its log has another name than its pid here. */
static bool is_comparable(const struct tare_unrecorded *s, pid_t pid)
{
	uint64_t its;

	return s->pid_namespace && tare_procfs_pid_namespace(pid, &its) == 0 && its == s->pid_namespace;
}

bool tare_unrecorded_add(struct tare_unrecorded *s, pid_t pid)
{
	int i;

	for (i = 0; i < s->known_nr && s->known[i].pid != pid; i++)
		;
	if (i == KNOWN_MAX)
		return false;
	if (i == s->known_nr) { /* it may be about to open its log: judged the next time */
		s->known[s->known_nr].pid = pid;
		s->known[s->known_nr++].verdict = SUSPECT;
		return false;
	}
	if (s->known[i].verdict != SUSPECT)
		return false;
	s->known[i].verdict = CLEARED;
	if (has_log(s, pid) || !is_comparable(s, pid) || !was_to_be_recorded(s, pid))
		return false;
	s->known[i].verdict = STRANGER;
	s->count++;
	return true;
}

int tare_unrecorded_count(const struct tare_unrecorded *s)
{
	return s->count;
}
