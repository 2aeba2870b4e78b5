/* SPDX-License-Identifier: Apache-2.0 */
/* Reads TARE_SIM_SCRIPT, a line a command, into rules for calls and a world of other processes. */
#include "sim_script.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/profile.h"
#include "sim_profile.h"

#define WORDS_MAX         6
#define DRIVER_NOT_LOADED 9 /* what nvmlInit says without a driver */

static bool number(const char *text, uint64_t *value)
{
	return tare_profile_parse_size(text, value) == 0;
}

static struct sim_rule *add_rule(struct sim_script *script, int kind)
{
	struct sim_rule *rule;

	if (script->rules_nr == SIM_SCRIPT_RULES)
		return NULL;
	rule = &script->rules[script->rules_nr];
	rule->kind = kind;
	return rule;
}

static bool set_call(struct sim_rule *rule, const char *call, const struct sim_script_words *words)
{
	if (strlen(call) >= sizeof(rule->call) || (words && !words->is_call(call)))
		return false;
	strcpy(rule->call, call);
	return true;
}

static bool set_nth(struct sim_rule *rule, const char *text)
{
	rule->nth = SIM_SCRIPT_ALL;
	return strcmp(text, "all") == 0 || (number(text, &rule->nth) && rule->nth);
}

static bool set_result(struct sim_rule *rule, const char *text, const struct sim_script_words *words)
{
	rule->result = words ? words->result(text) : 0;
	return rule->result >= 0;
}

/* Every command: its words (word[0] is its name) into the script; false: they make no sense. */
#define COMMAND(NAME) static bool NAME(struct sim_script *script, char **word, const struct sim_script_words *words)
#define UNUSED_WORDS  ((void)word, (void)words)

COMMAND(fail)
{
	struct sim_rule *rule = add_rule(script, SIM_RULE_FAIL);

	if (!rule || !set_call(rule, word[1], words) || !set_nth(rule, word[2]) || !set_result(rule, word[3], words))
		return false;
	script->rules_nr++;
	return true;
}

COMMAND(fail_any)
{
	struct sim_rule *rule = add_rule(script, SIM_RULE_FAIL_ANY);

	if (!rule || !set_nth(rule, word[1]) || !set_result(rule, word[2], words))
		return false;
	script->rules_nr++;
	return true;
}

COMMAND(crash)
{
	struct sim_rule *rule = add_rule(script, SIM_RULE_CRASH);

	if (!rule || !set_call(rule, word[1], words) || !set_nth(rule, word[2]))
		return false;
	script->rules_nr++;
	return true;
}

COMMAND(slow)
{
	struct sim_rule *rule = add_rule(script, SIM_RULE_SLOW);

	if (!rule || !set_call(rule, word[1], words) || !number(word[2], &rule->microseconds))
		return false;
	script->rules_nr++;
	return true;
}

static bool set_bytes(struct sim_rule *rule, char **word, const struct sim_script_words *words)
{
	return rule && set_call(rule, word[1], words) && set_nth(rule, word[2]) && number(word[3], &rule->bytes);
}

COMMAND(takes)
{
	if (!set_bytes(add_rule(script, SIM_RULE_TAKES), word, words))
		return false;
	script->rules_nr++;
	return true;
}

COMMAND(gives)
{
	if (!set_bytes(add_rule(script, SIM_RULE_GIVES), word, words))
		return false;
	script->rules_nr++;
	return true;
}

COMMAND(oom_above)
{
	UNUSED_WORDS;
	return number(word[1], &script->oom_above);
}

COMMAND(driver_version)
{
	uint64_t version;

	UNUSED_WORDS;
	if (!number(word[1], &version) || version < 2000 || version > 99999)
		return false;
	script->driver_version = (int)version;
	return true;
}

COMMAND(no_nvml)
{
	uint64_t code = DRIVER_NOT_LOADED;

	UNUSED_WORDS;
	if (word[1] && strcmp(word[1], "missing") == 0)
		script->nvml_missing = true;
	else if (word[1] && (!number(word[1], &code) || !code || code > 999))
		return false;
	script->no_nvml = (int)code;
	return true;
}

COMMAND(nvml_not_supported)
{
	bool all = strcmp(word[1], "all") == 0, memory = strcmp(word[1], "memory") == 0;
	bool processes = strcmp(word[1], "processes") == 0;
	bool process_memory = strcmp(word[1], "process-memory") == 0;

	UNUSED_WORDS;
	script->no_memory |= all || memory;
	script->no_processes |= all || processes;
	script->no_process_memory |= process_memory;
	return all || memory || processes || process_memory;
}

COMMAND(nvml_v1_only)
{
	UNUSED_WORDS;
	script->nvml_v1_only = true;
	return true;
}

COMMAND(mig)
{
	UNUSED_WORDS;
	script->mig = true;
	return true;
}

COMMAND(pid_offset)
{
	UNUSED_WORDS;
	return number(word[1], &script->pid_offset);
}

COMMAND(noisy)
{
	UNUSED_WORDS;
	uint64_t bytes, period_us;

	if (!number(word[1], &bytes) || !number(word[2], &period_us) || !period_us)
		return false;
	script->noisy = bytes;
	script->noisy_period_us = period_us;
	return true;
}

COMMAND(noisy_hidden)
{
	script->noisy_hidden = noisy(script, word, words);
	return script->noisy_hidden;
}

COMMAND(host_left)
{
	UNUSED_WORDS;
	return number(word[1], &script->host_left);
}

COMMAND(host_memory)
{
	UNUSED_WORDS;
	script->host_memory = true;
	return true;
}

COMMAND(drift)
{
	UNUSED_WORDS;
	return number(word[1], &script->drift);
}

static const struct {
	const char *name;
	int least, most; /* words after the name */
	bool (*run)(struct sim_script *script, char **word, const struct sim_script_words *words);
} commands[] = {
	{ "fail", 3, 3, fail },
	{ "fail-any", 2, 2, fail_any },
	{ "crash", 2, 2, crash },
	{ "slow", 2, 2, slow },
	{ "takes", 3, 3, takes },
	{ "gives", 3, 3, gives },
	{ "oom-above", 1, 1, oom_above },
	{ "driver-version", 1, 1, driver_version },
	{ "no-nvml", 0, 1, no_nvml },
	{ "nvml-not-supported", 1, 1, nvml_not_supported },
	{ "nvml-v1-only", 0, 0, nvml_v1_only },
	{ "mig", 0, 0, mig },
	{ "pid-offset", 1, 1, pid_offset },
	{ "noisy", 2, 2, noisy },
	{ "noisy-hidden", 2, 2, noisy_hidden },
	{ "drift", 1, 1, drift },
	{ "host-memory", 0, 0, host_memory },
	{ "host-left", 1, 1, host_left },
};

static bool run_line(struct sim_script *script, char *line, const struct sim_script_words *words)
{
	char *word[WORDS_MAX + 1] = { NULL }, *rest, *at;
	int count = 0;
	unsigned i;

	for (at = strtok_r(line, " \t", &rest); at && count < WORDS_MAX; at = strtok_r(NULL, " \t", &rest))
		word[count++] = at;
	if (!count || word[0][0] == '#')
		return true;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, word[0]) == 0)
			return count - 1 >= commands[i].least && count - 1 <= commands[i].most &&
			       commands[i].run(script, word, words);
	return false;
}

static void run_text(struct sim_script *script, char *text, const char *ends, const struct sim_script_words *words)
{
	char *rest, *line, shown[128];

	for (line = strtok_r(text, ends, &rest); line; line = strtok_r(NULL, ends, &rest)) {
		snprintf(shown, sizeof(shown), "%s", line + strspn(line, " \t"));
		if (!run_line(script, line, words) && words)
			fprintf(stderr, "simulated GPU: ignored line of TARE_SIM_SCRIPT: \"%s\"\n", shown);
	}
}

static char *read_file(const char *path)
{
	FILE *file = tare_profile_open(path);
	char *text = file ? calloc(1, 65536) : NULL;

	if (text && !fread(text, 1, 65535, file))
		text[0] = 0;
	if (file)
		fclose(file);
	return text;
}

void sim_script_load(struct sim_script *script, const struct sim_script_words *words)
{
	const char *value = getenv("TARE_SIM_SCRIPT");
	char *text;

	memset(script, 0, sizeof(*script));
	if (!value || !*value)
		return;
	text = read_file(value);
	if (text) {
		run_text(script, text, "\r\n", words);
	} else {
		text = strdup(value);
		if (text)
			run_text(script, text, ";\r\n", words);
	}
	free(text);
}

/* A pure function of the clock, so that every process of the machine sees the same. */
uint64_t sim_script_noise(const struct sim_script *script)
{
	struct timespec now;
	uint64_t us;

	if (!script->noisy)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
	return us / script->noisy_period_us % 2 ? script->noisy : 0;
}
