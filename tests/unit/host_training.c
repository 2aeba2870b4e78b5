/* SPDX-License-Identifier: Apache-2.0 */
#include "host_training.h"

#include "test.h"

#include <stdio.h>

int64_t now;

void put(struct world *w, uint64_t at, int64_t bytes, unsigned int flags, const struct tare_line *frames)
{
	struct world_block b = { .is_host = true, .t = ++now * MS, .block = at, .bytes = bytes, .flags = flags };

	for (int i = 0; frames && frames[i].file; i++)
		b.frames[i] = frames[i];
	world_block(w, b);
}

void make(struct world *w, uint64_t at, unsigned int flags, const struct tare_line *frames)
{
	put(w, at, 1000 + (int64_t)at, flags, frames);
}

void take(struct world *w, uint64_t at, unsigned int flags)
{
	put(w, at, 0, flags, NULL);
}

const char *rule_in(struct tare_ledger *l, uint64_t at)
{
	static char rule[64];

	snprintf(rule, sizeof(rule), "none");
	for (int i = 0; l->host_nr && i < l->hosts[0].blocks.count; i++)
		if (l->hosts[0].blocks.items[i].bytes == 1000 + (int64_t)at)
			snprintf(rule, sizeof(rule), "%s", tare_rules[l->hosts[0].blocks.items[i].rule].name);
	tare_ledger_free(l);
	return rule;
}

const char *rule_at(struct world *w, int64_t t_ms, uint64_t at)
{
	char when[32];
	struct tare_ledger l;

	snprintf(when, sizeof(when), "%lld.5ms", (long long)t_ms);
	l = world_ledger(w, when);
	return rule_in(&l, at);
}

void forward(struct world *w)
{
	make(w, X, 0, program);
	make(w, OUT, GRAD, linear);
	make(w, INNER, GRAD, relu);
	take(w, INNER, 0);
	make(w, LOSS, GRAD, loss);
}

void step(struct world *w, bool is_first)
{
	make(w, GRADIENT, IN_BACKWARD, backward);
	make(w, PASSING, IN_BACKWARD, backward);
	take(w, OUT, IN_BACKWARD);
	take(w, PASSING, IN_BACKWARD);
	if (is_first)
		make(w, STATE, 0, adam);
	make(w, SCRATCH, 0, adam);
	take(w, SCRATCH, 0);
}

void end_step(struct world *w)
{
	take(w, GRADIENT, 0);
	take(w, X, 0);
	take(w, LOSS, 0);
}

struct world *training(int steps)
{
	struct world *w = world_new();

	now = 0;
	for (int i = 0; i < steps; i++) {
		forward(w);
		step(w, i == 0);
		end_step(w);
	}
	return w;
}
