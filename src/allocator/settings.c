/* SPDX-License-Identifier: Apache-2.0 */
/* Parses PYTORCH_CUDA_ALLOC_CONF as the allocator of a version of PyTorch does. */
/* PYTORCH_CUDA_ALLOC_CONF and versions. */
#include "allocator/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576u

int tare_alloc_rules_of(const char *version, struct tare_alloc_rules *rules, struct tare_err *err)
{
	int major, minor, used = 0;

	if (sscanf(version, "%d.%d%n", &major, &minor, &used) != 2 || major < 2 || major > 9 || minor < 0 || minor > 99 ||
	    (version[used] && !strchr(".+-ar", version[used])))
		return tare_err_set(err, TARE_E_USAGE,
		                    "%s is no version of PyTorch that Tare knows; it takes 2.0 and later, such as 2.11",
		                    version);
	*rules = (struct tare_alloc_rules){
		.version = major * 100 + minor,
		.is_oldest_first = major > 2 || minor >= 13,
		.is_private_plain = major == 2 && minor <= 4,
		.is_list_end_included = major == 2 && minor <= 4,
		.is_one_unrounded = major == 2 && minor == 0,
	};
	return 0;
}

void tare_alloc_settings_init(struct tare_alloc_settings *settings)
{
	*settings = (struct tare_alloc_settings){
		.max_split = UINT64_MAX,
		.max_non_split_rounding = TARE_ALLOC_LARGE_SEGMENT,
		.large_segment = TARE_ALLOC_LARGE_SEGMENT,
		.fraction = 1,
	};
}

/* A text in tokens, as PyTorch cuts it: at , : [ ]; white space is nothing. */
struct tokens {
	const char *at;
	char token[64];
	const struct tare_alloc_rules *rules;
	struct tare_err *err;
};

static const char *next(struct tokens *t)
{
	size_t len = 0;

	while (isspace((unsigned char)*t->at))
		t->at++;
	if (*t->at && strchr(",:[]", *t->at)) {
		t->token[len++] = *t->at++;
	} else {
		while (*t->at && !strchr(",:[]", *t->at)) {
			if (!isspace((unsigned char)*t->at) && len + 1 < sizeof(t->token))
				t->token[len++] = *t->at;
			t->at++;
		}
	}
	t->token[len] = 0;
	return t->token;
}

static int expect(struct tokens *t, const char *what, const char *key)
{
	if (!strcmp(next(t), what))
		return 0;
	return tare_err_set(t->err, TARE_E_USAGE, "%s: '%s' must stand where '%s' is", key, what, t->token);
}

static int number(struct tokens *t, const char *key, uint64_t least, uint64_t *value)
{
	char *end;

	next(t);
	*value = strtoull(t->token, &end, 10);
	if (end == t->token || *end || *t->token == '-' || *value > UINT32_MAX)
		return tare_err_set(t->err, TARE_E_USAGE, "%s: '%s' is not a whole number", key, t->token);
	if (*value < least)
		return tare_err_set(t->err, TARE_E_USAGE, "%s: %s is too small; it takes %llu and more", key, t->token,
		                    (unsigned long long)least);
	return 0;
}

static int fraction(struct tokens *t, const char *key, double *value)
{
	char *end;

	next(t);
	*value = strtod(t->token, &end);
	if (end == t->token || *end || !(*value >= 0 && *value <= 1))
		return tare_err_set(t->err, TARE_E_USAGE, "%s: '%s' is not a number from 0 to 1", key, t->token);
	return 0;
}

static int yes_or_no(struct tokens *t, const char *key, bool *value)
{
	next(t);
	*value = !strcmp(t->token, "True");
	if (*value || !strcmp(t->token, "False"))
		return 0;
	return tare_err_set(t->err, TARE_E_USAGE, "%s: '%s' is neither True nor False", key, t->token);
}

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static int division(struct tokens *t, const char *key, bool may_be_none, uint32_t *value)
{
	uint64_t n = 0;
	int rc = number(t, key, 0, &n);

	if (!rc && !is_power_of_two(n) && !(may_be_none && !n))
		return tare_err_set(t->err, TARE_E_USAGE, "%s: %s is not a power of two", key, t->token);
	*value = (uint32_t)n;
	return rc;
}

/* [256:1,512:2,>:4]: sizes in MB, each with its divisions. The first stands for all below it, too. */
static int division_list(struct tokens *t, const char *key, struct tare_alloc_settings *s)
{
	uint32_t last = 0, value;
	bool is_first = true;
	int rc;

	for (;;) {
		uint64_t mb;
		bool is_end;
		uint32_t from, to;

		next(t);
		is_end = !strcmp(t->token, ">");
		mb = strtoull(t->token, NULL, 10);
		if (!is_end && !is_power_of_two(mb))
			return tare_err_set(t->err, TARE_E_USAGE, "%s: '%s' is not a power of two, nor >", key, t->token);
		rc = expect(t, ":", key);
		if (!rc)
			rc = division(t, key, !t->rules->is_list_end_included, &value);
		if (rc)
			return rc;
		from = is_end ? last + !t->rules->is_list_end_included : (uint32_t)__builtin_ctzll(mb);
		if (from > TARE_ALLOC_DIVISIONS - 1 && !is_end)
			from = TARE_ALLOC_DIVISIONS - 1;
		to = is_end ? TARE_ALLOC_DIVISIONS - 1 : from;
		last = to;
		for (uint32_t i = is_first && !is_end ? 0 : from; i <= to && i < TARE_ALLOC_DIVISIONS; i++)
			s->divisions[i] = value;
		is_first = false;
		next(t);
		if (!strcmp(t->token, "]"))
			return 0;
		if (strcmp(t->token, ","))
			return tare_err_set(t->err, TARE_E_USAGE, "%s: the list does not end with ]", key);
	}
}

static int divisions(struct tokens *t, const char *key, struct tare_alloc_settings *s)
{
	const char *before = t->at;
	uint32_t value = 0;
	int rc;

	if (!strcmp(next(t), "["))
		return division_list(t, key, s);
	t->at = before;
	rc = division(t, key, true, &value);
	for (size_t i = 0; !rc && i < TARE_ALLOC_DIVISIONS; i++)
		s->divisions[i] = value;
	return rc;
}

/* What changes nothing here: how threads, graphs and pinned memory are dealt with. */
static const char *const others[] = {
	"release_lock_on_cudamalloc",
	"graph_capture_record_stream_reuse",
	"pinned_use_cuda_host_register",
	"pinned_num_register_threads",
	"pinned_use_background_threads",
	"pinned_reserve_segment_size_mb",
	"pinned_free_catch_all",
	"pinned_max_round_threshold_mb",
	"pinned_max_cached_size_mb",
	"throw_on_cudamalloc_oom",
	"expandable_segments_reserve",
	"expandable_segments_reserve_by_class",
	/* as ROCm spells them */
	"release_lock_on_hipmalloc",
	"pinned_use_hip_host_register",
};

static int skip_value(struct tokens *t, const char *key)
{
	bool is_list;

	next(t);
	is_list = !strcmp(t->token, "[");
	while (is_list && strcmp(t->token, "]")) {
		if (!*t->token)
			return tare_err_set(t->err, TARE_E_USAGE, "%s: the list does not end with ]", key);
		next(t);
	}
	return 0;
}

/* From which version on there is a setting; others were always there. */
static const struct {
	const char *key;
	int since;
} later[] = {
	{ "expandable_segments", 201 },
	{ "max_non_split_rounding_mb", 206 },
	{ "large_segment_size_mb", 210 },
	{ "per_process_memory_fraction", 210 },
};

static int check_version(const struct tokens *t, const char *key)
{
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (!strcmp(key, later[i].key) && t->rules->version < later[i].since)
			return tare_err_set(t->err, TARE_E_USAGE, "%s: PyTorch has it from %d.%d on, this is %d.%d", key,
			                    later[i].since / 100, later[i].since % 100, t->rules->version / 100,
			                    t->rules->version % 100);
	return 0;
}

static int megabytes(struct tokens *t, const char *key, uint64_t least, uint64_t *bytes)
{
	uint64_t n = 0;
	int rc = number(t, key, least, &n);

	if (!rc)
		*bytes = n * MIB;
	return rc;
}

static int gc_threshold(struct tokens *t, const char *key, double *value)
{
	int rc = fraction(t, key, value);

	if (!rc && (*value <= 0 || *value >= 1))
		return tare_err_set(t->err, TARE_E_USAGE, "%s: %s is not between 0 and 1", key, t->token);
	return rc;
}

static int value_of(struct tokens *t, const char *key, struct tare_alloc_settings *s)
{
	uint64_t large_mb = s->large_segment / MIB;
	int rc = check_version(t, key);

	if (rc)
		return rc;
	if (!strcmp(key, "max_split_size_mb"))
		return megabytes(t, key, t->rules->version <= 208 ? large_mb + 1 : large_mb, &s->max_split);
	if (!strcmp(key, "max_non_split_rounding_mb"))
		return megabytes(t, key, large_mb, &s->max_non_split_rounding);
	if (!strcmp(key, "large_segment_size_mb"))
		return megabytes(t, key, 11, &s->large_segment);
	if (!strcmp(key, "garbage_collection_threshold"))
		return gc_threshold(t, key, &s->gc_threshold);
	if (!strcmp(key, "roundup_power2_divisions"))
		return divisions(t, key, s);
	if (!strcmp(key, "expandable_segments"))
		return yes_or_no(t, key, &s->is_expandable);
	if (!strcmp(key, "per_process_memory_fraction"))
		return fraction(t, key, &s->fraction);
	if (!strcmp(key, "backend")) {
		s->is_async = !strcmp(next(t), "cudaMallocAsync");
		return 0;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(key, others[i]))
			return skip_value(t, key);
	return tare_err_set(t->err, TARE_E_USAGE, "%s is no setting of PyTorch's allocator that Tare knows", key);
}

/* large_segment_size_mb counts before all others, wherever it stands. */
static int large_segment_first(struct tokens t, struct tare_alloc_settings *s)
{
	const char *found = strstr(t.at, "large_segment_size_mb");

	if (!found)
		return 0;
	t.at = found;
	next(&t);
	return expect(&t, ":", "large_segment_size_mb") ? t.err->code : value_of(&t, "large_segment_size_mb", s);
}

int tare_alloc_settings_parse(struct tare_alloc_settings *settings, const char *text,
                              const struct tare_alloc_rules *rules, struct tare_err *err)
{
	struct tare_alloc_settings s = *settings;
	struct tare_err own = { 0 };
	struct tokens t = { .at = text, .rules = rules, .err = err ? err : &own };
	char key[sizeof(t.token)];
	int rc;

	s.max_split = UINT64_MAX;
	s.gc_threshold = 0;
	memset(s.divisions, 0, sizeof(s.divisions));
	rc = large_segment_first(t, &s);
	s.max_non_split_rounding = s.large_segment;
	while (!rc && *next(&t)) {
		if (!strcmp(t.token, ","))
			continue;
		memcpy(key, t.token, sizeof(key));
		rc = expect(&t, ":", key);
		if (!rc)
			rc = value_of(&t, key, &s);
		if (!rc && *next(&t) && strcmp(t.token, ","))
			rc = tare_err_set(t.err, TARE_E_USAGE, "%s: a comma must stand where '%s' is", key, t.token);
	}
	if (!rc)
		*settings = s;
	return rc;
}
