/* SPDX-License-Identifier: Apache-2.0 */
/* Equal layers share a row, and nothing else does. */
#include "test.h"
#include "view/module.h"

#include "base/str.h"

enum { MOST = 16 };

struct world {
	struct tare_module_row modules[MOST];
	struct tare_tensor_row tensors[MOST];
	int module_nr, tensor_nr;
};

/* Of module `parent`, -1: it is in none. Returns which it is. */
static int module(struct world *w, int parent, const char *name, const char *class, int64_t bytes)
{
	int at = w->module_nr++;

	w->modules[at] = (struct tare_module_row){ .path = name,
		                                       .name = name,
		                                       .class = class,
		                                       .parent = parent < 0 ? NULL : &w->modules[parent],
		                                       .number = (uint32_t)at,
		                                       .order = (uint32_t)at };
	if (bytes)
		w->tensors[w->tensor_nr++] = (struct tare_tensor_row){
			.module = &w->modules[at], .rule = TARE_RULE_SAID_PARAMETER, .count = 1, .bytes = bytes
		};
	return at;
}

static void check_folded(struct world *w, const char *expected)
{
	struct tare_tensor_rows rows = { w->tensors, w->tensor_nr };
	struct tare_module_tree tree, folded;
	struct tare_str out = { 0 };

	tare_module_tree_build(&tree, &rows);
	tare_module_tree_fold(&folded, &tree);
	for (size_t i = 0; i < folded.count; i++) {
		const struct tare_module_node *n = &folded.items[i];

		tare_str_addf(&out, "%zu %s%s%s ×%zu %lld\n", n->depth, n->row->name, n->last ? "–" : "",
		              n->last ? n->last : "", n->times, (long long)n->all.bytes);
	}
	CHECK_STR(tare_str_text(&out), expected);
	tare_str_free(&out);
	tare_module_tree_free(&folded);
	tare_module_tree_free(&tree);
}

static void add_layer(struct world *w, int in, const char *name, int64_t bytes)
{
	int layer = module(w, in, name, "Layer", 0);

	module(w, layer, "linear", "Linear", bytes);
	module(w, layer, "norm", "LayerNorm", 5);
}

TEST(equal_layers_share_a_row_with_what_is_in_them)
{
	struct world w = { .module_nr = 0 };
	int net = module(&w, -1, "net", "Net", 0), layers = module(&w, net, "layers", "ModuleList", 0);

	add_layer(&w, layers, "0", 100);
	add_layer(&w, layers, "1", 100);
	add_layer(&w, layers, "2", 100);
	module(&w, net, "head", "Linear", 7);
	check_folded(&w, "0 net ×1 322\n"
	                 "1 layers ×1 315\n"
	                 "2 0–2 ×3 315\n"
	                 "3 linear ×1 300\n"
	                 "3 norm ×1 15\n"
	                 "1 head ×1 7\n");
}

TEST(a_layer_of_another_size_stands_alone)
{
	struct world w = { .module_nr = 0 };
	int net = module(&w, -1, "net", "Net", 0);

	add_layer(&w, net, "0", 100);
	add_layer(&w, net, "1", 101);
	add_layer(&w, net, "2", 101);
	check_folded(&w, "0 net ×1 317\n"
	                 "1 0 ×1 105\n"
	                 "2 linear ×1 100\n"
	                 "2 norm ×1 5\n"
	                 "1 1–2 ×2 212\n"
	                 "2 linear ×1 202\n"
	                 "2 norm ×1 10\n");
}

/* Of two names, of two classes, with a number left out, and roots that are alike. */
TEST(what_is_not_numbered_in_turn_is_not_folded)
{
	struct world w = { .module_nr = 0 };
	int net = module(&w, -1, "0", "Net", 3);

	module(&w, net, "first", "Linear", 9);
	module(&w, net, "second", "Linear", 9);
	module(&w, net, "3", "Linear", 9);
	module(&w, net, "4", "Conv2d", 9);
	module(&w, net, "6", "Conv2d", 9);
	module(&w, -1, "1", "Net", 3);
	check_folded(&w, "0 0 ×1 48\n"
	                 "1 first ×1 9\n"
	                 "1 second ×1 9\n"
	                 "1 3 ×1 9\n"
	                 "1 4 ×1 9\n"
	                 "1 6 ×1 9\n"
	                 "0 1 ×1 3\n");
}
