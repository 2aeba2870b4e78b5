/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of training, as phases are called that are some. */
#include "ledger/core/change.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* "step 3", "train_step", "ProfilerStep#12", "iteration"; not "Optimizer.step#SGD.step". */
bool tare_training_is_step(const char *name)
{
	static const char *const words[] = { "step", "iteration", "iter" };
	size_t n = 0;

	while (isalpha((unsigned char)name[n]) || name[n] == '_')
		n++;
	if (!strncasecmp(name, "optim", 5) || name[n] == '.' || name[n] == ':')
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i]);

		if (n >= length && !strncasecmp(name + n - length, words[i], length))
			return true;
	}
	return false;
}
