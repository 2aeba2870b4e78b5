/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the process that draws: looks at the terminal, reads the recording once a second, obeys `tare`. */
#include "cmd/run_live.h"

#include "base/now.h"
#include "base/print.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/output.h"
#include "top/follow.h"
#include "top/status.h"
#include "trace/rank.h"

#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* How often the terminal is looked at, and how often what is there is drawn. */
enum { LOOK_MS = 100, NICE = 10 };
#define SECOND    INT64_C(1000000000)
#define DRAW_NS   SECOND
#define SAY_IT_NS (SECOND / 2) /* for a shorter time nobody missed the lines */

struct live {
	struct tare_region *region;
	const pid_t *leader;
	int socket;
	struct tare_follow *follow;
	struct tare_status status;
	struct tare_text_style style;
	struct tare_str lines[TARE_REGION_LINES];
	int64_t begun_ns, drawn_ns;
	bool is_stopped;
};

static void draw(struct live *l, int64_t now)
{
	const struct tare_ledger *ledger;

	if (tare_follow_turn(l->follow, now, false) && l->follow->has_ledger)
		tare_status_take(&l->status, &l->follow->ledger);
	ledger = l->follow->has_ledger ? &l->follow->ledger : NULL;
	tare_status_lines(&l->status, ledger, (now - l->begun_ns) / SECOND, (size_t)l->region->real.ws_col - 1, l->lines,
	                  (size_t)l->region->lines);
	for (int i = 0; i < l->region->lines && !l->style.is_utf8; i++)
		tare_text_to_ascii(&l->lines[i], 0);
}

static void turn(struct live *l)
{
	bool was_shown = l->region->lines > 0;
	int64_t now = tare_now_ns(CLOCK_MONOTONIC);

	if (!tare_region_turn(l->region, *l->leader, l->is_stopped))
		return;
	if (was_shown && now - l->drawn_ns < DRAW_NS)
		return;
	draw(l, now);
	l->drawn_ns = now;
	/* What the terminal is may have changed while that was read. */
	if (tare_region_turn(l->region, *l->leader, l->is_stopped))
		tare_region_show(l->region, l->lines, l->style.is_colour);
}

/* False: it is over. */
static bool obey(struct live *l)
{
	char word = 0;

	if (read(l->socket, &word, 1) != 1 || word == TARE_LIVE_ENDED || word == TARE_LIVE_CRASHED) {
		tare_region_end(l->region, word == TARE_LIVE_CRASHED);
		return false;
	}
	l->is_stopped = word == TARE_LIVE_STOPPED;
	turn(l);
	if (l->is_stopped && write(l->socket, &word, 1) != 1)
		return false;
	return true;
}

static void live(const char *folder, struct tare_region *region, const pid_t *leader, int socket)
{
	struct live l = { .region = region, .leader = leader, .socket = socket };
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	setpriority(PRIO_PROCESS, 0, NICE);
	l.follow = tare_follow_new(folder);
	l.follow->needs_readings = true;
	l.style = tare_terminal_style(stderr);
	l.begun_ns = tare_now_ns(CLOCK_MONOTONIC);
	for (bool goes_on = true; goes_on;) {
		if (poll(&fd, 1, LOOK_MS) > 0)
			goes_on = obey(&l);
		else
			turn(&l);
	}
}

tare_live_maker *tare_run_live(bool is_wanted)
{
	struct tare_rank rank;

	if (!is_wanted || (tare_rank_of_environment(&rank) && rank.rank > 0))
		return NULL; /* ranks share one terminal */
	if (tare_region_is_possible())
		return live;
	tare_say("--live: standard error is no terminal that can show lines, so there are none");
	return NULL;
}

void tare_run_live_say(const struct tare_session_result *result)
{
	static const struct {
		enum tare_region_why why;
		const char *text;
	} reasons[] = {
		{ TARE_REGION_TAKEN, "while the program had the terminal for itself (a whole screen, or keys one by one)" },
		{ TARE_REGION_SMALL, "while the terminal had less than 11 rows or 40 columns" },
		{ TARE_REGION_BEHIND, "while the terminal was another job's" },
	};
	char text[TARE_UNITS_TEXT_MAX];

	if (result->no_live)
		tare_say("--live: %s, so there were no lines", result->no_live);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (result->away_ns[reasons[i].why] >= SAY_IT_NS)
			tare_say("--live: no lines for %s, %s", tare_units_duration(text, result->away_ns[reasons[i].why]),
			         reasons[i].text);
}
