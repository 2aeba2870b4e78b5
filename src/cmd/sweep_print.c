/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the progress of a sweep. */
#include "cmd/sweep_print.h"

#include "base/print.h"
#include "base/progress.h"
#include "base/simulated.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/output.h"

#include <string.h>

static void add_left(struct tare_str *out, int64_t ns)
{
	int64_t minutes = ns / 60000000000;
	char text[TARE_UNITS_TEXT_MAX];

	if (ns < 0)
		return;
	if (minutes >= 60)
		tare_str_addf(out, " · about %lld h %lld min left", (long long)(minutes / 60), (long long)(minutes % 60));
	else if (minutes >= 2)
		tare_str_addf(out, " · about %lld min left", (long long)minutes);
	else
		tare_str_addf(out, " · about %s left", tare_units_duration(text, ns));
}

static void add_run(struct tare_str *out, const struct tare_sweep_state *s, bool is_simulated)
{
	char text[TARE_UNITS_TEXT_MAX];

	tare_str_addf(out, "[%zu/%zu] ", s->done, s->total);
	tare_text_add_name(out, s->label);
	if (s->repeat > 1)
		tare_str_addf(out, " #%d", s->repeat);
	tare_str_addf(out, ": %s", s->status);
	if (!strcmp(s->status, "failed"))
		tare_str_addf(out, " (exit %d)", s->exit_code);
	tare_str_addf(out, " · %s", tare_units_duration(text, s->ns));
	if (s->peak >= 0)
		tare_str_addf(out, " · %s MiB%s", tare_units_mib(text, s->peak), tare_simulated_mark(is_simulated));
	if (s->retries)
		tare_str_addf(out, " · %llu retr%s", (unsigned long long)s->retries, s->retries == 1 ? "y" : "ies");
}

static void clear(struct tare_sweep_printer *p)
{
	if (p->has_line)
		tare_print_over(stderr, "");
	p->has_line = false;
}

static void see(void *arg, const struct tare_sweep_state *s)
{
	struct tare_sweep_printer *p = arg;
	TARE_FREED_BY(tare_str_free) struct tare_str text = { 0 };

	if (s->label) {
		add_run(&text, s, p->is_simulated);
		if (!p->is_terminal && s->done < s->total)
			add_left(&text, s->left_ns);
		tare_str_add_char(&text, '\n');
		tare_print(stderr, &text);
	}
	if (p->is_terminal && s->running) {
		tare_str_cut(&text, 0);
		tare_str_addf(&text, "%zu of %zu done, %zu running", s->done, s->total, s->running);
		add_left(&text, s->left_ns);
		if (!tare_terminal_style(stderr).is_utf8)
			tare_text_to_ascii(&text, 0);
		tare_print_over(stderr, tare_str_text(&text));
		p->has_line = true;
	}
}

void tare_sweep_printer_begin(struct tare_sweep_printer *p, struct tare_sweep_watch *watch, bool is_simulated)
{
	*p = (struct tare_sweep_printer){ .is_terminal = tare_progress_has_terminal(), .is_simulated = is_simulated };
	*watch = (struct tare_sweep_watch){ .see = see, .arg = p, .every_ms = p->is_terminal ? 1000 : 0 };
}

void tare_sweep_printer_end(struct tare_sweep_printer *p)
{
	clear(p);
}
