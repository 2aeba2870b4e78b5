/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a block made by the backward pass, and are gradients being recorded?
 *
 * The engine of autograd calls its member evaluate_function for every node of a graph, through the
 * PLT. Its arguments are references and pointers, so what a preloaded library exports under that name
 * stands around every node's work, on whichever thread.
 *
 * Nodes throw, and a frame of C has no cleanup. But it may have a personality: the function that the
 * unwinder calls for every frame that an exception (or a thread's cancellation) leaves. Ours counts,
 * and lets it pass; no landing pad, and nothing of a C++ library, is needed for that.
 */
#include "recorder/torch/tensors.h"

#include <stdbool.h>
#include <stddef.h>

#include "recorder/recorder.h"
#include "recorder/torch/node.h"
#include "recorder/torch/real.h"

/*
 * Mangled: torch::autograd::Engine::evaluate_function(std::shared_ptr<GraphTask> &, Node *, InputBuffer &,
 * const std::shared_ptr<ReadyQueue> &), the same from 1.9 to 2.11.
 */
#define EVALUATE                                                                                                       \
	_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE
#define GRAD_MODE _ZN3c108GradMode10is_enabledEv /* c10::GradMode::is_enabled(), static */

typedef void evaluate_fn(void *engine, void *task, void *node, void *inputs, void *queue);
typedef bool grad_mode_fn(void);

evaluate_fn EVALUATE;

/* Of the unwinder's interface, which every C++ library on this ABI shares. */
enum { UNWIND_CLEANUP_PHASE = 2, UNWIND_CONTINUE = 8 };

int tare_autograd_personality(int version, int actions, uint64_t class, void *exception, void *context);

__attribute__((used)) int tare_autograd_personality(int version, int actions, uint64_t class, void *exception,
                                                    void *context)
{
	(void)version, (void)class, (void)exception, (void)context;
	if (actions & UNWIND_CLEANUP_PHASE && tare_thread.backward > 0)
		tare_thread.backward--;
	return UNWIND_CONTINUE;
}

TARE_EXPORT void EVALUATE(void *engine, void *task, void *node, void *inputs, void *queue)
{
	static struct tare_torch_real torch = TARE_TORCH_ANYWHERE(EVALUATE);
	evaluate_fn *real = (evaluate_fn *)tare_torch_real(&torch);
	struct tare_node_now before;

	if (unlikely(!real)) /* but whoever called it was linked with it */
		return;
	/* Of this function: relative to the place, four bytes. */
	__asm__ volatile(".cfi_personality 0x1b, tare_autograd_personality");
	before = tare_node_enter(node);
	tare_thread.backward++;
	real(engine, task, node, inputs, queue);
	if (tare_thread.backward > 0)
		tare_thread.backward--;
	tare_node_leave(before);
}

/* False where it is not known. */
static bool is_grad_enabled(void)
{
	static struct tare_torch_real torch TARE_HOT_DATA = TARE_TORCH_AT_HOME(GRAD_MODE);
	grad_mode_fn *ask = (grad_mode_fn *)tare_torch_real(&torch);

	return likely(ask != NULL) && ask();
}

TARE_HOT uint32_t tare_autograd_backward(void)
{
	return tare_thread.backward > 0 ? TARE_TENSOR_BACKWARD : 0;
}

TARE_HOT uint32_t tare_autograd_flags(void)
{
	bool is_in_graph = tare_thread.has_node;

	tare_thread.has_node = false;
	return tare_autograd_backward() | (is_grad_enabled() ? TARE_TENSOR_GRAD : 0) |
	       (is_in_graph ? TARE_TENSOR_IN_GRAPH : 0);
}
