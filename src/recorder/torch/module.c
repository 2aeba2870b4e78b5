/* SPDX-License-Identifier: Apache-2.0 */
/* Records which module of PyTorch a thread is in, when that changes. */
#include "recorder/torch/module.h"

#include <string.h>

#include "recorder/base/fork.h"
#include "recorder/log/emit.h"
#include "recorder/python/layout.h"
#include "recorder/python/memory.h"
#include "recorder/recorder.h"
#include "recorder/ring/ring.h"
#include "recorder/torch/scan.h"
#include "record/clock.h"

enum { TYPE_NAME = 24, NAME_MAX = 200, TYPES = 256, TOLD = 4096 };

/* What this thread's last MODULE record says. An object's type tells it from one that was at its address before. */
static TARE_TLS struct {
	struct tare_module_seen module;
	uint32_t epoch;
} said;

static inline bool is_said(uint64_t at, uint32_t type)
{
	return at == said.module.at && type == said.module.type && said.epoch == tare_ring_epoch();
}

/*
 * Ids of the names of classes: the id below, and above it what tells the class, its name and the log apart from
 * others that share the place. One word, so that nobody reads half of it.
 */
static uint64_t types[TYPES];

/* Modules that the last scan told of, by bits of their addresses; more may seem to be. */
static uint64_t told[TOLD / 64];

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15u;
	return a ^ a >> 32;
}

/* "Linear"; of a class that was made in C the name has its module in front. */
TARE_COLD static uint32_t write_name(uint64_t name)
{
	char text[NAME_MAX];
	size_t n = 0;

	if (!name || !tare_python_may_load(name, 1, TARE_PYTHON_ASK))
		return 0;
	for (; n < sizeof(text) - 1; n++) {
		uint64_t at = name + n;

		if (at % 4096 == 0 && !tare_python_may_load(at, 1, TARE_PYTHON_ASK))
			break;
		text[n] = *(const volatile char *)at;
		if (!text[n])
			break;
		if (text[n] == '.')
			name = at + 1, n = (size_t)-1;
	}
	text[n] = '\0';
	return tare_emit_string(text);
}

static uint32_t class_of(uint64_t type)
{
	uint64_t name = tare_python_word(type + TYPE_NAME);
	uint64_t hash = mix(mix(type, name), tare_ring_epoch()), *slot = &types[hash % TYPES];
	uint64_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);
	uint32_t id;

	if (known && known >> 32 == hash >> 32)
		return (uint32_t)known;
	id = write_name(name);
	/* the first record opens the log: a new epoch */
	hash = mix(mix(type, name), tare_ring_epoch());
	if (id)
		__atomic_store_n(&types[hash % TYPES], hash >> 32 << 32 | id, __ATOMIC_RELAXED);
	return id;
}

static uint64_t *bits_of(uint64_t module, uint64_t *bit)
{
	uint64_t hash = mix(module, 0) % TOLD;

	*bit = UINT64_C(1) << hash % 64;
	return &told[hash / 64];
}

static bool was_told(uint64_t module)
{
	uint64_t bit, *bits = bits_of(module, &bit);

	return __atomic_load_n(bits, __ATOMIC_RELAXED) & bit;
}

void tare_modules_forget(void)
{
	for (int i = 0; i < TOLD / 64; i++)
		__atomic_store_n(&told[i], 0, __ATOMIC_RELAXED);
}

void tare_module_say(uint64_t module)
{
	struct tare_rec_module rec = { .at = module };
	uint64_t bit, *bits = bits_of(module, &bit);

	rec.class = class_of(tare_python_word(module + TARE_PYTHON_TYPE));
	__atomic_fetch_or(bits, bit, __ATOMIC_RELAXED);
	tare_emit_module(&rec, tare_clock_ticks());
}

TARE_HOT struct tare_module_seen tare_module_see(uint64_t module)
{
	struct tare_module_seen seen = { .at = module };
	uint64_t type = tare_python_word(module + TARE_PYTHON_TYPE);

	seen.type = (uint32_t)(type >> 4); /* what Python allocates begins at such multiples */
	seen.class = likely(is_said(module, seen.type)) ? said.module.class : class_of(type);
	return seen;
}

/* Of a model's blocks every second is for another module than the last, so this is as quick as a block is. */
TARE_HOT static bool record(const struct tare_module_seen *module)
{
	struct tare_rec_module rec = { .at = module->at, .tid = tare_fork_tid(), .class = module->class };

	if (!tare_emit_often(TARE_KIND_MODULE, &rec.head, sizeof(rec), tare_clock_ticks()))
		return false;
	said.module = *module;
	said.epoch = tare_ring_epoch();
	if (!was_told(module->at))
		tare_scan_ask_modules();
	return true;
}

TARE_HOT uint32_t tare_module_flag(const struct tare_module_seen *module)
{
	if (!module->at)
		return 0;
	if (likely(is_said(module->at, module->type)))
		return TARE_TENSOR_IN_MODULE;
	return record(module) ? TARE_TENSOR_IN_MODULE : 0;
}
