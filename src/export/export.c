/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats. */
#include "export/export.h"

#define TARE_EXPORT(KEY, NAME, RENDERER, NEEDS, IS_TEXT)                                                               \
	{ .name = NAME, .render = RENDERER, .needs = NEEDS, .is_text = IS_TEXT },
const struct tare_export_info tare_exports[TARE_EXPORT_NR] = {
#include "export/format.def"
};
