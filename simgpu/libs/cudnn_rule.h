/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cuDNN takes as workspace for a convolution on a card that is there, worked out.
 *
 * The real library answers without a device, too, but it cannot ask a device how many blocks run at once, and so splits
 * the work otherwise; and what cuBLAS takes is not in it. Of 2,372 convolutions asked on an H100 (cuDNN 9.19) that answer is
 * right for 1,615. Which engine it names, and with which knobs, is the same; so from these, the shape and the number of
 * multiprocessors the right size follows (docs/measurements/cudnn.md). Found by asking, for cards of compute capability
 * 9.0 and the engines of cuDNN 9.19.
 */
#ifndef TARE_SIM_CUDNN_RULE_H
#define TARE_SIM_CUDNN_RULE_H

#include "simgpu/libs/conv.h"

/* The plan that the real library chose without a device. */
enum { SIM_CONV_KNOBS = 64, SIM_CONV_NO_KNOB = INT32_MIN };
struct sim_conv_plan {
	int engine;
	int knobs[SIM_CONV_KNOBS]; /* by cudnnBackendKnobType_t */
};
void sim_conv_plan_clear(struct sim_conv_plan *plan);
/* "ENGINE:KNOB=VALUE,…" False: it is none. */
bool sim_conv_plan_parse(const char *text, struct sim_conv_plan *plan);

struct sim_conv_card {
	int capability; /* 90 for 9.0 */
	int processors;
};

/*
 * The workspace. `deviceless`: what the real library said of this plan; without it (-1, and no plan) a rule by shape alone,
 * which is right for fewer. `rule` gets the name of the rule.
 */
int64_t sim_cudnn_rule(const struct sim_conv *conv, const struct sim_conv_card *card, const struct sim_conv_plan *plan,
                       int64_t deviceless, const char **rule);

#endif
