/* SPDX-License-Identifier: Apache-2.0 */
/* Scripted worlds and faults: TARE_SIM_SCRIPT. docs/SIMGPU.md describes the commands. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_SCRIPT_RULES 64
#define SIM_SCRIPT_ALL   0 /* as `nth`: every call */

struct sim_rule {
	enum { SIM_RULE_FAIL, SIM_RULE_FAIL_ANY, SIM_RULE_CRASH, SIM_RULE_SLOW, SIM_RULE_TAKES, SIM_RULE_GIVES } kind;
	char call[64]; /* symbol, or name without a version */
	uint64_t nth;
	int result;
	uint64_t microseconds;
	uint64_t bytes; /* TAKES, GIVES */
};

struct sim_script {
	struct sim_rule rules[SIM_SCRIPT_RULES];
	int rules_nr;
	uint64_t oom_above;           /* 0: off */
	uint64_t host_left;           /* of the host's memory; 0: as it is */
	int driver_version;           /* 0: the profile's */
	int no_nvml;                  /* result of nvmlInit; 0: NVML works */
	bool nvml_missing;            /* libnvidia-ml without its functions */
	bool no_memory, no_processes; /* "not supported" */
	bool no_process_memory;       /* "not available", as on WSL */
	bool nvml_v1_only;
	bool mig;
	uint64_t pid_offset;
	uint64_t noisy, noisy_period_us;
	bool noisy_hidden;
	uint64_t drift;
	bool host_memory; /* counts as the device's */
};

/* What the words of a rule mean to the library that reads the script. NULL: takes any. */
struct sim_script_words {
	bool (*is_call)(const char *name);
	int (*result)(const char *text); /* -1: no such result */
};

/* A line that makes no sense is named on stderr (where `words` are given) and left out. */
void sim_script_load(struct sim_script *script, const struct sim_script_words *words);

/* What the noisy second process has now; 0 where the script has none. */
uint64_t sim_script_noise(const struct sim_script *script);

#define SIM_NOISY_PID 4194303u /* the largest that Linux gives, so nobody's */

#endif
