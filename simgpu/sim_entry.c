/* SPDX-License-Identifier: Apache-2.0 */
/* Every exported entry point, generated from the two tables: lock, script, body. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim.h"
#include "sim_answer.h"
#include "sim_error.h"
#include "sim_hide.h"

enum shape { NEW, DEL, WEIGH, FIRST, SYNC, NOTE, CUSTOM, ANSWER, CALL };

#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	[SIM_##symbol] = { #symbol, #name, version, ptsz, shape < ANSWER, (void *)symbol },
static const struct sim_api_row sim_api_rows[SIM_API_NR] = {
#include "recorder/cuda/cuda_api.def"
#include "sim_extra.def"
};
#undef CU_API

static uint64_t calls, calls_of[SIM_API_NR];

static bool is_call(const char *name)
{
	int i;

	for (i = 0; i < SIM_API_NR; i++)
		if (strcmp(sim_api_rows[i].symbol, name) == 0 || strcmp(sim_api_rows[i].name, name) == 0)
			return true;
	return false;
}

/* A program that looks for a younger function must not find it: take it out of the symbol table. */
static void hide_younger(int version)
{
	int i;

	for (i = 0; i < SIM_API_NR; i++)
		if (sim_api_rows[i].version > version)
			sim_hide_symbol(sim_api_rows[i].symbol);
}

static void load_script(void)
{
	static const struct sim_script_words words = { is_call, sim_error_parse };
	char error[512];

	sim_script_load(&sim.script, &words);
	if (!sim.script.driver_version && sim_profile_load(&sim.profile, error, sizeof(error)) == 0)
		sim.script.driver_version = (int)sim.profile.cuda_version;
	if (sim.script.driver_version)
		hide_younger(sim.script.driver_version);
}

/* When the library is loaded: before anybody looks for a symbol. */
__attribute__((constructor)) static void start(void)
{
	sim_gate_begin();
	sim.api = sim_api_rows;
	load_script();
}

static bool matches(const struct sim_rule *rule, enum sim_api api)
{
	return strcmp(rule->call, sim_api_rows[api].symbol) == 0 || strcmp(rule->call, sim_api_rows[api].name) == 0;
}

/* The n-th call of a name counts all its versions. */
static uint64_t count_of(const struct sim_rule *rule)
{
	uint64_t count = 0;
	int i;

	for (i = 0; i < SIM_API_NR; i++)
		if (matches(rule, i))
			count += calls_of[i];
	return count;
}

static CUresult apply_script(enum sim_api api, uint64_t *sleep_us)
{
	int i;

	calls++;
	calls_of[api]++;
	if (sim.script.driver_version && sim_api_rows[api].version > sim.script.driver_version)
		return CUDA_ERROR_NOT_SUPPORTED;
	for (i = 0; i < sim.script.rules_nr; i++) {
		const struct sim_rule *rule = &sim.script.rules[i];
		bool is_ours = rule->kind == SIM_RULE_FAIL_ANY || matches(rule, api);

		if (!is_ours || rule->kind == SIM_RULE_TAKES || rule->kind == SIM_RULE_GIVES)
			continue;
		if (rule->kind == SIM_RULE_SLOW) {
			*sleep_us += rule->microseconds;
			continue;
		}
		if (rule->nth != SIM_SCRIPT_ALL && rule->nth != (rule->kind == SIM_RULE_FAIL_ANY ? calls : count_of(rule)))
			continue;
		if (rule->kind == SIM_RULE_CRASH)
			raise(SIGSEGV);
		return rule->result;
	}
	return CUDA_SUCCESS;
}

static bool needs_init(enum sim_api api)
{
	switch (api) {
	case SIM_cuInit:
	case SIM_cuDriverGetVersion:
	case SIM_cuGetErrorName:
	case SIM_cuGetErrorString:
	case SIM_cuGetProcAddress:
	case SIM_cuGetProcAddress_v2:
	case SIM_cuGetExportTable:
		return false;
	default:
		return true;
	}
}

static void sleep_for(uint64_t us)
{
	struct timespec time = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

	while (us && nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

/* Success: the lock is held, and the body may run. */
static CUresult enter(enum sim_api api, const void *caller)
{
	uint64_t sleep_us = 0;
	CUresult result;

	if (sim_is_forked() && needs_init(api))
		return CUDA_ERROR_NOT_INITIALIZED;
	sim_relock();
	result = apply_script(api, &sleep_us);
	if (result == CUDA_SUCCESS && needs_init(api) && !sim.is_initialized)
		result = CUDA_ERROR_NOT_INITIALIZED;
	if (sleep_us) {
		sim_unlock();
		sleep_for(sleep_us);
		sim_relock();
	}
	sim.is_per_thread = sim_api_rows[api].ptsz;
	sim.caller = caller;
	if (result != CUDA_SUCCESS)
		sim_unlock();
	return result;
}

/* A driver that takes in this call what nobody knows of, and gives it back in that one. */
static void apply_hidden(enum sim_api api)
{
	static uint64_t hidden;
	struct sim_context *context;
	int i;

	for (i = 0; i < sim.script.rules_nr; i++) {
		const struct sim_rule *rule = &sim.script.rules[i];
		bool takes = rule->kind == SIM_RULE_TAKES;

		if ((!takes && rule->kind != SIM_RULE_GIVES) || !matches(rule, api) ||
		    (rule->nth != SIM_SCRIPT_ALL && rule->nth != count_of(rule)) || sim_current(&context) != CUDA_SUCCESS)
			continue;
		if (takes && sim_take(context->device, rule->bytes) == CUDA_SUCCESS) {
			hidden += rule->bytes;
		} else if (!takes && hidden >= rule->bytes) {
			sim_give(context->device, rule->bytes);
			hidden -= rule->bytes;
		}
	}
}

static CUresult leave(enum sim_api api, CUresult result)
{
	if (result == CUDA_SUCCESS)
		apply_hidden(api);
	if (sim.slot && sim_api_rows[api].is_weighty)
		sim.slot->calls++;
	sim_unlock();
	sim_answer_tell();
	return result;
}

#define CU_API(symbol, name, version, ptsz, shape, class, params, args, sets)                                          \
	CUresult symbol params                                                                                             \
	{                                                                                                                  \
		CUresult result = enter(SIM_##symbol, __builtin_return_address(0));                                            \
                                                                                                                       \
		if (result != CUDA_SUCCESS)                                                                                    \
			return result;                                                                                             \
		return leave(SIM_##symbol, sim_body_##symbol args);                                                            \
	}
#include "recorder/cuda/cuda_api.def"
#include "sim_extra.def"
#undef CU_API
