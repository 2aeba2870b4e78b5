/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARE_VIEW_SERVING_SHOW_H
#define TARE_VIEW_SERVING_SHOW_H

#include "view/by.h"
#include "view/serving.h"

/* serving_text.c: for people, of the last instant that has a server */
void tare_serving_text(struct tare_emit *e, const struct tare_by_ask *ask);

#endif
