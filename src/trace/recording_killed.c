/* SPDX-License-Identifier: Apache-2.0 */
/* Children that a signal ended: their parent may say nothing of it, and goes on. Of the command `tare run` says it. */
#include "trace/recording_private.h"

#include "base/str.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST = 4 }; /* that are named one by one */

/* The number of what ended it, 0: nothing did; what programs are asked to end by is no accident. */
static int fatal_signal(const struct tare_process *p)
{
	int number = p->is_status_known && WIFSIGNALED((int)p->status) ? WTERMSIG((int)p->status) : 0;

	return number == SIGTERM || number == SIGINT || number == SIGHUP || number == SIGPIPE ? 0 : number;
}

static bool is_command(const struct tare_recording *r, const struct tare_process *p)
{
	for (size_t i = 0; i < r->process_nr; i++) {
		const struct tare_process *q = &r->processes[i]->public;

		if (q->role == TARE_ROLE_TARE && q->pid == p->ppid)
			return true;
	}
	return false;
}

void tare_recording_note_killed(struct tare_recording *r)
{
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };
	int count = 0;

	for (size_t i = 0; i < r->process_nr; i++) {
		const struct tare_process *p = &r->processes[i]->public;
		int number = p->role == TARE_ROLE_PROGRAM ? fatal_signal(p) : 0;

		if (!number || is_command(r, p) || ++count > MOST)
			continue;
		tare_str_cut(&text, 0);
		tare_str_addf(&text, "%s (pid %" PRIu32 "), a child, was ended by signal %d (%s)", p->program, p->pid, number,
		              strsignal(number));
		tare_recording_add_remark(r, tare_str_text(&text));
	}
	if (count > MOST) {
		tare_str_cut(&text, 0);
		tare_str_addf(&text, "%d more children were ended by signals: tare info", count - MOST);
		tare_recording_add_remark(r, tare_str_text(&text));
	}
}
