/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated cuDNN: the workspace of a plan. What a card of this kind answered comes first (conv_table.h), then the
 * rule (cudnn_rule.h), which needs to know which plan the program's own library chose.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simgpu/libs/conv_table.h"
#include "simgpu/libs/cudnn.h"
#include "simgpu/libs/cudnn_rule.h"

/* Engines have the numbers of the rule in these versions. */
static bool is_known_version(size_t version)
{
	return version / 100 == 919;
}

static struct sim_conv_tables tables;
static char card_name[256];
static struct sim_conv_asker asker = { .card = card_name };
static struct sim_conv_card card;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A user's card has its tables beside its profile, whose path has a slash. */
static void open_beside_profile(void)
{
	const char *profile = getenv("TARE_SIM_PROFILE");
	const char *slash = profile ? strrchr(profile, '/') : NULL;
	char *folder = NULL;

	if (!slash || asprintf(&folder, "%.*s/", (int)(slash - profile), profile) < 0)
		return;
	sim_conv_tables_open(&tables, folder);
	free(folder);
}

/*
 * TARE_SIM_TABLES=FOLDER: tables of one's own; empty: none. Else those beside the card's profile, and those that lie beside
 * the folder of this library.
 */
static void open_tables(void)
{
	const char *set = getenv("TARE_SIM_TABLES");
	Dl_info info;
	char *folder = NULL, *slash;

	if (set) {
		if (*set)
			sim_conv_tables_open(&tables, set);
		return;
	}
	open_beside_profile();
	if (!dladdr((void *)&tables, &info) || !info.dli_fname)
		return;
	slash = strrchr(info.dli_fname, '/');
	if (asprintf(&folder, "%.*s/../tables", slash ? (int)(slash - info.dli_fname) : 1, slash ? info.dli_fname : ".") <
	    0)
		return;
	sim_conv_tables_open(&tables, folder);
	free(folder);
}

static void begin(void)
{
	enum { PROCESSORS = 16, MAJOR = 75, MINOR = 76 };
	int device = 0, major = 0, minor = 0;
	size_t version = cudnn_real_version();

	SIM_DRIVER("cuCtxGetDevice", &device);
	SIM_DRIVER("cuDeviceGetName", card_name, sizeof(card_name), device);
	SIM_DRIVER("cuDeviceGetAttribute", &card.processors, PROCESSORS, device);
	SIM_DRIVER("cuDeviceGetAttribute", &major, MAJOR, device);
	SIM_DRIVER("cuDeviceGetAttribute", &minor, MINOR, device);
	card.capability = 10 * major + minor;
	asker.cudnn = version ? version : 91900;
	asker.capability = (uint64_t)card.capability;
	asker.processors = (uint64_t)card.processors;
	open_tables();
}

/* The number of an engine and its knobs, asked of the real library about a configuration of its own. */
static bool ask_engine(const struct cudnn_real *real, void *configuration, struct sim_conv_plan *plan)
{
	enum { ENGINE_KIND = 2, ENGINE = 300, INDEX = 1301 };
	void *engine = NULL;
	int64_t count = 0, index = -1;
	bool known;

	if (real->create(ENGINE_KIND, &engine))
		return false;
	known = !real->get(configuration, ENGINE, CUDNN_DESCRIPTOR, 1, &count, &engine) &&
	        !real->get(engine, INDEX, CUDNN_INT64, 1, &count, &index);
	real->destroy(engine);
	plan->engine = (int)index;
	return known;
}

static void ask_knob(const struct cudnn_real *real, void *choice, struct sim_conv_plan *plan)
{
	enum { KNOB_TYPE = 9, TYPE = 600, VALUE = 601 };
	int64_t count = 0, value = 0;
	int type = -1;

	if (!real->get(choice, TYPE, KNOB_TYPE, 1, &count, &type) &&
	    !real->get(choice, VALUE, CUDNN_INT64, 1, &count, &value) && type >= 0 && type < SIM_CONV_KNOBS)
		plan->knobs[type] = (int)value;
}

static void ask_knobs(const struct cudnn_real *real, void *configuration, struct sim_conv_plan *plan)
{
	enum { CHOICE_KIND = 7, CHOICES = 302 };
	void *choices[SIM_CONV_KNOBS];
	int64_t count = 0;
	int made = 0;

	while (made < SIM_CONV_KNOBS && !real->create(CHOICE_KIND, &choices[made]))
		made++;
	if (made && !real->get(configuration, CHOICES, CUDNN_DESCRIPTOR, made, &count, choices))
		for (int64_t i = 0; i < count && i < made; i++)
			ask_knob(real, choices[i], plan);
	while (made)
		real->destroy(choices[--made]);
}

/* The plan that the real library would run. False: it is not known. */
static bool ask_plan(const struct cudnn_descriptor *of, struct sim_conv_plan *plan)
{
	enum { ENGINE_CONFIGURATION = 401 };
	const struct cudnn_attribute *attribute = cudnn_attribute(of, ENGINE_CONFIGURATION);
	const struct cudnn_real *real = cudnn_real();
	const struct cudnn_descriptor *configuration;

	if (!real || !is_known_version(real->version()) || !attribute || attribute->type != CUDNN_DESCRIPTOR ||
	    attribute->count != 1)
		return false;
	configuration = *(const struct cudnn_descriptor *const *)attribute->values;
	sim_conv_plan_clear(plan);
	if (!configuration || !configuration->twin || !ask_engine(real, configuration->twin, plan))
		return false;
	ask_knobs(real, configuration->twin, plan);
	return true;
}

/* TARE_SIM_CONVOLUTIONS=FILE: every convolution that a plan was made for, its workspace and how that came about. */
static void note(const char *convolution, int64_t workspace, const char *how)
{
	const char *file = getenv("TARE_SIM_CONVOLUTIONS");
	char line[1200];
	int fd, n;

	if (!file || !*file)
		return;
	n = snprintf(line, sizeof(line), "%s = %" PRId64 " # %s\n", convolution, workspace, how);
	fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	sim_lib_write(fd, line, (size_t)n);
	close(fd);
}

int64_t cudnn_workspace(const struct cudnn_descriptor *of, int64_t twin)
{
	const struct sim_conv_table *table = NULL;
	const char *rule = "deviceless";
	struct sim_conv_plan plan;
	struct sim_conv conv;
	char how[128];
	bool assumed = false;
	int64_t workspace;

	if (!of->convolution)
		return twin >= 0 ? twin : 0;
	pthread_once(&once, begin);
	if (!sim_conv_parse(of->convolution, &conv)) {
		workspace = twin >= 0 ? twin : 0;
		note(of->convolution, workspace, "not understood");
		return workspace;
	}
	workspace = sim_conv_lookup(&tables, &asker, &conv, &table, &assumed);
	if (workspace >= 0) {
		snprintf(how, sizeof(how), "%s of %s, cuDNN %" PRIu64, assumed ? "assumed as" : "as", table->card,
		         table->cudnn);
	} else {
		workspace = sim_cudnn_rule(&conv, &card, ask_plan(of, &plan) ? &plan : NULL, twin, &rule);
		snprintf(how, sizeof(how), "rule %s", rule);
	}
	note(of->convolution, workspace, how);
	return workspace;
}
