/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Longer than 600 lines: one table for each struct, and nothing else.
 *
 * What of a fold is kept when it is saved: every field of its structs. A field that is not kept stands as
 * TARE_LEFT with the reason; tools/check-state.py compares these tables with the structs.
 */
#include "ledger/state/state.h"

#include "ledger/parts/parts.h"
#include "ledger/settle/settle.h"
#include "ledger/state/private.h"

/* clang-format off */

#define SHAPE(type) const struct tare_shape tare_shape_##type = { #type, sizeof(struct type), fields_##type }

/* ---- amounts and buckets ---- */

#define SELF struct tare_amount
static const struct tare_shape_field fields_tare_amount[] = {
	TARE_INT(bytes), TARE_INT(low), TARE_INT(high), TARE_INT(count), TARE_INT(ns), TARE_INT(evidence),
	TARE_FIELDS_END };
static SHAPE(tare_amount);
#undef SELF

#define SELF struct tare_bucket
static const struct tare_shape_field fields_tare_bucket[] = {
	TARE_STRUCT(now, tare_shape_tare_amount), TARE_INT_ARRAY(moment),
	TARE_INT(device), TARE_INT(process), TARE_INT(context), TARE_INT(account), TARE_INT(is_subdivided),
	TARE_INT(owner), TARE_INT(site), TARE_INT(next_of_device), TARE_INT(next_of_context),
	TARE_STRUCT_ARRAY(kept, tare_shape_tare_amount),
	TARE_FIELDS_END };
static SHAPE(tare_bucket);
#undef SELF

#define SELF struct tare_site
static const struct tare_shape_field fields_tare_site[] = {
	TARE_OTHER(process, TARE_STATE_PROCESS), TARE_OTHER(python, TARE_STATE_PYTHON),
	TARE_OTHER(stack, TARE_STATE_STACK),
	TARE_INT(pc), TARE_INT(is_backward), TARE_INT(segment_owner), TARE_INT(segment_context),
	TARE_INT(tensor), TARE_INT(ever_allocated), TARE_INT(is_placed), TARE_INT(maker), TARE_INT(begins_backward),
	TARE_INT(call), TARE_INT(outlived_bytes),
	TARE_FIELDS_END };
static SHAPE(tare_site);
#undef SELF

#define SELF struct tare_origin
static const struct tare_shape_field fields_tare_origin[] = {
	TARE_INT(owner), TARE_INT(site),
	TARE_FIELDS_END };
static SHAPE(tare_origin);
#undef SELF

#define SELF struct tare_op
static const struct tare_shape_field fields_tare_op[] = {
	TARE_INT(bucket), TARE_STRUCT(by, tare_shape_tare_amount),
	TARE_FIELDS_END };
static SHAPE(tare_op);
#undef SELF

#define SELF struct tare_ops
static const struct tare_shape_field fields_tare_ops[] = {
	TARE_LIST(items, tare_shape_tare_op, count, cap),
	TARE_FIELDS_END };
static SHAPE(tare_ops);
#undef SELF

/* ---- objects ---- */

#define SELF struct tare_object_live
static const struct tare_shape_field fields_tare_object_live[] = {
	TARE_INT(handle), TARE_INT(asked), TARE_INT(granted), TARE_INT(process), TARE_INT(device),
	TARE_INT(context), TARE_INT(bucket), TARE_INT(prev), TARE_INT(next), TARE_INT(graph), TARE_INT(class),
	TARE_FIELDS_END };
static SHAPE(tare_object_live);
#undef SELF

#define SELF struct tare_refs
static const struct tare_shape_field fields_tare_refs[] = {
	TARE_INT(handles), TARE_INT(mappings),
	TARE_FIELDS_END };
static SHAPE(tare_refs);
#undef SELF

#define SELF struct tare_physical
static const struct tare_shape_field fields_tare_physical[] = {
	TARE_INT(handle), TARE_INT(bytes), TARE_INT(identity), TARE_INT(exported_ns), TARE_INT(process),
	TARE_INT(device), TARE_INT(bucket), TARE_STRUCT(refs, tare_shape_tare_refs), TARE_INT(holder),
	TARE_INT(is_live), TARE_INT(is_lent), TARE_INT(is_allocation),
	TARE_FIELDS_END };
static SHAPE(tare_physical);
#undef SELF

#define SELF struct tare_import
static const struct tare_shape_field fields_tare_import[] = {
	TARE_INT(handle), TARE_INT(identity), TARE_INT(bytes), TARE_INT(begin_ns), TARE_INT(process),
	TARE_INT(device), TARE_STRUCT(refs, tare_shape_tare_refs), TARE_INT(origin), TARE_INT(is_live),
	TARE_INT(is_address),
	TARE_FIELDS_END };
static SHAPE(tare_import);
#undef SELF

#define SELF struct tare_mapping
static const struct tare_shape_field fields_tare_mapping[] = {
	TARE_INT(at), TARE_INT(bytes), TARE_INT(ref), TARE_INT(process), TARE_INT(graph),
	TARE_FIELDS_END };
static SHAPE(tare_mapping);
#undef SELF

#define SELF struct tare_context
static const struct tare_shape_field fields_tare_context[] = {
	TARE_INT(handle), TARE_INT(process), TARE_INT(device), TARE_INT(number), TARE_INT(is_primary),
	TARE_INT(is_live), TARE_INT(local_held), TARE_INT(heap_wanted), TARE_INT_ARRAY(bucket_of),
	TARE_MAP(parts), TARE_INT(buckets), TARE_INT(objects), TARE_ITEM(facts, tare_shape_tare_facts),
	TARE_INT(exec_nodes), TARE_INT(exec_nodes_high),
	TARE_FIELDS_END };
static SHAPE(tare_context);
#undef SELF

#define SELF struct tare_undo
static const struct tare_shape_field fields_tare_undo[] = {
	TARE_LIST(objects, tare_shape_tare_object_live, object_nr, object_cap),
	TARE_STRUCT(ops, tare_shape_tare_ops), TARE_INT(context), TARE_INT(handle),
	TARE_FIELDS_END };
static SHAPE(tare_undo);
#undef SELF

/* ---- PyTorch's segments and blocks ---- */

#define SELF struct tare_on_stream
static const struct tare_shape_field fields_tare_on_stream[] = {
	TARE_INT(id), TARE_INT(ids), TARE_INT(is_known),
	TARE_FIELDS_END };
static SHAPE(tare_on_stream);
#undef SELF

#define SELF struct tare_thread_stream
static const struct tare_shape_field fields_tare_thread_stream[] = {
	TARE_STRUCT(on, tare_shape_tare_on_stream), TARE_INT(tid), TARE_INT(device),
	TARE_FIELDS_END };
static SHAPE(tare_thread_stream);
#undef SELF

#define SELF struct tare_segment
static const struct tare_shape_field fields_tare_segment[] = {
	TARE_INT(at), TARE_INT(size), TARE_INT(owner), TARE_STRUCT(on, tare_shape_tare_on_stream),
	TARE_INT(other_stream_blocks), TARE_INT(live), TARE_INT(context), TARE_INT(process), TARE_INT(graph),
	TARE_INT(is_held), TARE_INT(is_expandable), TARE_INT(is_trial), TARE_INT(partly), TARE_INT_ARRAY(moment),
	TARE_FIELDS_END };
static SHAPE(tare_segment);
#undef SELF

#define SELF struct tare_segments
static const struct tare_shape_field fields_tare_segments[] = {
	TARE_LIST(items, tare_shape_tare_segment, count, cap),
	TARE_FIELDS_END };
static SHAPE(tare_segments);
#undef SELF

#define SELF struct tare_kept_segments
static const struct tare_shape_field fields_tare_kept_segments[] = {
	TARE_LIST(items, tare_shape_tare_segment, count, cap), TARE_INT(moment),
	TARE_FIELDS_END };
static SHAPE(tare_kept_segments);
#undef SELF

#define SELF struct tare_use
static const struct tare_shape_field fields_tare_use[] = {
	TARE_INT(worker), TARE_INT(is_beside), TARE_INT(section), TARE_INT(backwards), TARE_INT(forwards),
	TARE_INT(turn), TARE_INT(call), TARE_INT(name), TARE_INT(named_by), TARE_INT(call_depth), TARE_INT(kind),
	TARE_INT(before), TARE_INT(maker), TARE_INT(role), TARE_INT(role_flags), TARE_INT(is_unseen),
	TARE_INT(pass), TARE_INT(is_gone), TARE_INT(in_backward), TARE_INT(in_its_section),
	TARE_INT(outlived_call), TARE_INT(will_pass), TARE_INT(has_stayed), TARE_INT(forward_first),
	TARE_INT(is_watched), TARE_INT(lived_backwards), TARE_INT(lived_forwards), TARE_INT(serial),
	TARE_FIELDS_END };
static SHAPE(tare_use);
#undef SELF

#define SELF struct tare_live_block
static const struct tare_shape_field fields_tare_live_block[] = {
	TARE_INT(address), TARE_INT(bytes), TARE_INT(born_ns), TARE_INT(process), TARE_INT(site), TARE_INT(tid),
	TARE_INT(flags), TARE_INT(bucket), TARE_STRUCT(use, tare_shape_tare_use),
	TARE_INT(booked),
	TARE_FIELDS_END };
static SHAPE(tare_live_block);
#undef SELF

#define SELF struct tare_kept_block
static const struct tare_shape_field fields_tare_kept_block[] = {
	TARE_STRUCT(block, tare_shape_tare_live_block), TARE_INT(gone),
	TARE_FIELDS_END };
static SHAPE(tare_kept_block);
#undef SELF

#define SELF struct tare_kept_blocks
static const struct tare_shape_field fields_tare_kept_blocks[] = {
	TARE_LIST(items, tare_shape_tare_kept_block, count, cap), TARE_INT_ARRAY(at),
	TARE_FIELDS_END };
static SHAPE(tare_kept_blocks);
#undef SELF

#define SELF struct tare_block
static const struct tare_shape_field fields_tare_block[] = {
	TARE_INT(address), TARE_INT(bytes), TARE_INT(t), TARE_INT(born_ns), TARE_INT(process), TARE_INT(site),
	TARE_INT(tid), TARE_INT(flags), TARE_STRUCT(on, tare_shape_tare_on_stream), TARE_INT(look),
	TARE_INT(looker),
	TARE_FIELDS_END };
static SHAPE(tare_block);
#undef SELF

#define SELF struct tare_pass
static const struct tare_shape_field fields_tare_pass[] = {
	TARE_INT(number), TARE_INT(live), TARE_INT(kept), TARE_INT(gone), TARE_INT(gone_at),
	TARE_FIELDS_END };
static SHAPE(tare_pass);
#undef SELF

#define SELF struct tare_passes
static const struct tare_shape_field fields_tare_passes[] = {
	TARE_LIST(items, tare_shape_tare_pass, count, cap), TARE_INT(free), TARE_INT(last), TARE_MAP(gone),
	TARE_MAP(said),
	TARE_FIELDS_END };
static SHAPE(tare_passes);
#undef SELF

#define SELF struct tare_call_now
static const struct tare_shape_field fields_tare_call_now[] = {
	TARE_INT(call), TARE_INT(serial),
	TARE_FIELDS_END };
static SHAPE(tare_call_now);
#undef SELF

#define SELF struct tare_worker
static const struct tare_shape_field fields_tare_worker[] = {
	TARE_INT(tid), TARE_INT(is_seen_at_work), TARE_INT(is_engine), TARE_INT(serves), TARE_INT(kind),
	TARE_INT(before), TARE_INT(section), TARE_INT(backwards), TARE_INT(forwards), TARE_INT(optimizers),
	TARE_INT(forwards_then), TARE_STRUCT_ARRAY(calls, tare_shape_tare_call_now), TARE_INT(call_nr),
	TARE_INT(call), TARE_INT(serials), TARE_INT(last_site), TARE_INT(last_bytes), TARE_INT(last_address),
	TARE_STRUCT(passes, tare_shape_tare_passes), TARE_MAP(fates),
	TARE_FIELDS_END };
static SHAPE(tare_worker);
#undef SELF

/* ---- training ---- */

#define SELF struct tare_training_step
static const struct tare_shape_field fields_tare_training_step[] = {
	TARE_INT_ARRAY(figures),
	TARE_FIELDS_END };
static SHAPE(tare_training_step);
#undef SELF

#define SELF struct tare_training_list
static const struct tare_shape_field fields_tare_training_list[] = {
	TARE_INT(is_open), TARE_INT(depth), TARE_INT(begin_ns), TARE_INT(first_ns),
	TARE_STRUCT(open, tare_shape_tare_training_step), TARE_STRUCT(first, tare_shape_tare_training_step),
	TARE_INT(count), TARE_INT(stride), TARE_LIST(items, tare_shape_tare_training_step, nr, cap),
	TARE_FIELDS_END };
static SHAPE(tare_training_list);
#undef SELF

#define SELF struct tare_training_last
static const struct tare_shape_field fields_tare_training_last[] = {
	TARE_INT(section), TARE_INT(site), TARE_INT(before_site), TARE_INT(bytes), TARE_INT(before_bytes),
	TARE_FIELDS_END };
static SHAPE(tare_training_last);
#undef SELF

#define SELF struct tare_training_thread
static const struct tare_shape_field fields_tare_training_thread[] = {
	TARE_INT(tid), TARE_INT(section), TARE_INT(backwards), TARE_INT(has_backward), TARE_INT(has_optimizer),
	TARE_STRUCT_ARRAY(lasts, tare_shape_tare_training_last), TARE_INT(last_ns),
	TARE_STRUCT_ARRAY(lists, tare_shape_tare_training_list),
	TARE_FIELDS_END };
static SHAPE(tare_training_thread);
#undef SELF

#define SELF struct tare_training_threads
static const struct tare_shape_field fields_tare_training_threads[] = {
	TARE_LIST(items, tare_shape_tare_training_thread, count, cap), TARE_INT(last), TARE_MAP(of_tid),
	TARE_FIELDS_END };
static SHAPE(tare_training_threads);
#undef SELF

#define SELF struct tare_training_part
static const struct tare_shape_field fields_tare_training_part[] = {
	TARE_INT(process_nr), TARE_INT(device_nr), TARE_LEFT(answers), TARE_LEFT(answer_nr),
	TARE_LIST_OF(places, tare_shape_tare_training_threads, TARE_STATE_TRAININGS),
	TARE_FIELDS_END };
static SHAPE(tare_training_part);
#undef SELF

#define SELF struct tare_work
static const struct tare_shape_field fields_tare_work[] = {
	TARE_LIST(workers, tare_shape_tare_worker, count, cap), TARE_MAP(of_tid), TARE_INT(leader),
	TARE_INT(starter), TARE_INT(grad), TARE_INT(last),
	TARE_FIELDS_END };
static SHAPE(tare_work);
#undef SELF

#define SELF struct tare_blocks
static const struct tare_shape_field fields_tare_blocks[] = {
	TARE_STRUCT(work, tare_shape_tare_work), TARE_LEFT(places), /* restored */
	TARE_LIST(items, tare_shape_tare_live_block, count, cap), TARE_INT(free),
	TARE_FIELDS_END };
static SHAPE(tare_blocks);
#undef SELF

#define SELF struct tare_process_on_device
static const struct tare_shape_field fields_tare_process_on_device[] = {
	TARE_STRUCT(segments, tare_shape_tare_segments), TARE_STRUCT(blocks, tare_shape_tare_blocks),
	TARE_MAP(contexts), TARE_MAP(pages), TARE_INT(managed), TARE_INT(created), TARE_INT(is_contradicted),
	TARE_INT(is_left), TARE_INT(is_removed), TARE_INT(is_subdivided),
	TARE_FIELDS_END };
static SHAPE(tare_process_on_device);
#undef SELF

/* ---- processes ---- */

#define SELF struct tare_host_tensors
static const struct tare_shape_field fields_tare_host_tensors[] = {
	TARE_INT(is_known), TARE_INT(bytes), TARE_INT(count), TARE_INT(mapped), TARE_INT(mapped_count),
	TARE_INT(most), TARE_INT(is_partial),
	TARE_FIELDS_END };
static SHAPE(tare_host_tensors);
#undef SELF

#define SELF struct tare_host_now
static const struct tare_shape_field fields_tare_host_now[] = {
	TARE_INT(is_read), TARE_INT(anon), TARE_INT(file), TARE_INT(shmem), TARE_INT(swap), TARE_INT(peak),
	TARE_INT(pss), TARE_STRUCT(tensors, tare_shape_tare_host_tensors),
	TARE_FIELDS_END };
static SHAPE(tare_host_now);
#undef SELF

#define SELF struct tare_scan_entry
static const struct tare_shape_field fields_tare_scan_entry[] = {
	TARE_INT(at), TARE_INT(of), TARE_INT(name), TARE_INT(role), TARE_INT(flags),
	TARE_FIELDS_END };
static SHAPE(tare_scan_entry);
#undef SELF

#define SELF struct tare_scan_entries
static const struct tare_shape_field fields_tare_scan_entries[] = {
	TARE_LIST(items, tare_shape_tare_scan_entry, count, cap), TARE_INT(scans),
	TARE_FIELDS_END };
static SHAPE(tare_scan_entries);
#undef SELF

#define SELF struct tare_process_fold
static const struct tare_shape_field fields_tare_process_fold[] = {
	TARE_OTHER(process, TARE_STATE_PROCESS), TARE_INT(is_seen), TARE_INT(has_context), TARE_INT(is_ending),
	TARE_INT(is_ended), TARE_ITEMS(on_device, tare_shape_tare_process_on_device, on_device_nr),
	TARE_MAP_ARRAY(live), TARE_MAP(vmm), TARE_MAP(mapped), TARE_MAP(shared),
	TARE_MAP(opened), TARE_INT(is_vmm_over), TARE_MAP(origin_of), TARE_MAP(site_of),
	TARE_LEFT(site_memo), /* fills itself again */
	TARE_MAP(origins), TARE_MAP(large_open), TARE_MAP(held_sizes), TARE_MAP(xla_devices), TARE_MAP(elastic),
	TARE_MAP(thread_streams),
	TARE_LIST(streams, tare_shape_tare_thread_stream, stream_nr, stream_cap),
	TARE_STRUCT(scanned, tare_shape_tare_scan_entries), TARE_INT(end_ns),
	TARE_INT(is_torn_down), TARE_STRUCT(host_blocks, tare_shape_tare_blocks),
	TARE_LEFT(host_row), /* of the ledgers that are asked for */
	TARE_INT(host_part), TARE_STRUCT(host, tare_shape_tare_host_now),
	TARE_STRUCT_ARRAY(host_kept, tare_shape_tare_host_now), TARE_INT_ARRAY(host_moment),
	TARE_FIELDS_END };
static SHAPE(tare_process_fold);
#undef SELF

/* ---- phases ---- */

#define SELF struct tare_high_water
static const struct tare_shape_field fields_tare_high_water[] = {
	TARE_INT(used), TARE_INT(live), TARE_INT(ns),
	TARE_FIELDS_END };
static SHAPE(tare_high_water);
#undef SELF

#define SELF struct tare_phase_total
static const struct tare_shape_field fields_tare_phase_total[] = {
	TARE_INT(seen), TARE_INT(before), TARE_INT(after), TARE_INT(change), TARE_INT(change_min),
	TARE_INT(change_max), TARE_INT(own), TARE_INT(own_min), TARE_INT(own_max),
	TARE_STRUCT(peak, tare_shape_tare_high_water), TARE_INT_ARRAY(parts),
	TARE_FIELDS_END };
static SHAPE(tare_phase_total);
#undef SELF

#define SELF struct tare_phase_known
static const struct tare_shape_field fields_tare_phase_known[] = {
	TARE_INT(process), TARE_INT(parent), TARE_INT(depth), TARE_TEXT(name), TARE_TEXT(domain), TARE_TEXT(path),
	TARE_INT(source), TARE_INT(what), TARE_INT(threads), TARE_INT(repeats), TARE_INT(unclosed),
	TARE_INT(first_ns), TARE_INT(last_ns), TARE_INT(ns),
	TARE_LIST_OF(totals, tare_shape_tare_phase_total, TARE_STATE_DEVICES),
	TARE_FIELDS_END };
static SHAPE(tare_phase_known);
#undef SELF

#define SELF struct tare_phase_level
static const struct tare_shape_field fields_tare_phase_level[] = {
	TARE_INT(from_start), TARE_INT(before), TARE_INT(nested), TARE_STRUCT(peak, tare_shape_tare_high_water),
	TARE_INT_ARRAY(accounts),
	TARE_FIELDS_END };
static SHAPE(tare_phase_level);
#undef SELF

#define SELF struct tare_phase_frame
static const struct tare_shape_field fields_tare_phase_frame[] = {
	TARE_INT(known), TARE_INT(is_used), TARE_INT(is_ended), TARE_INT(is_unclosed), TARE_INT(process),
	TARE_INT(tid), TARE_INT(id), TARE_INT(serial), TARE_INT(begin_ns), TARE_INT(end_ns), TARE_INT(below),
	TARE_INT(parent), TARE_INT(parent_serial), TARE_INT(devices_left), TARE_INT(is_watched),
	TARE_LIST_OF(levels, tare_shape_tare_phase_level, TARE_STATE_DEVICES),
	TARE_FIELDS_END };
static SHAPE(tare_phase_frame);
#undef SELF

#define SELF struct tare_phase_boundary
static const struct tare_shape_field fields_tare_phase_boundary[] = {
	TARE_INT(t), TARE_INT(frame), TARE_INT(into),
	TARE_FIELDS_END };
static SHAPE(tare_phase_boundary);
#undef SELF

#define SELF struct tare_phases_device
static const struct tare_shape_field fields_tare_phases_device[] = {
	TARE_INT(next), TARE_INTS(open, open_nr, open_cap),
	TARE_FIELDS_END };
static SHAPE(tare_phases_device);
#undef SELF

#define SELF struct tare_phases_part
static const struct tare_shape_field fields_tare_phases_part[] = {
	TARE_ROW(devices, tare_shape_tare_phases_device, device_nr),
	TARE_LIST(known, tare_shape_tare_phase_known, known_nr, known_cap), TARE_STRMAP(known_of),
	TARE_LEFT(recent), /* found again */
	TARE_MAP(threads_seen), TARE_LIST(frames, tare_shape_tare_phase_frame, frame_nr, frame_cap),
	TARE_INT(frame_free), TARE_INT(serial), TARE_MAP(top_of), TARE_MAP(range_of), TARE_MAP(mark_of),
	TARE_MAP(number_of), TARE_MAP(open_of),
	TARE_LIST(queue, tare_shape_tare_phase_boundary, queue_nr, queue_cap), TARE_INT(queue_base),
	TARE_INT(stray), TARE_INT(is_full), TARE_INT(open_nr), TARE_INT(dropped),
	TARE_FIELDS_END };
static SHAPE(tare_phases_part);
#undef SELF

/* ---- graphs ---- */

#define SELF struct tare_graph
static const struct tare_shape_field fields_tare_graph[] = {
	TARE_INT(number), TARE_INT(count), TARE_INT(device), TARE_INT(pid), TARE_INT(generation),
	TARE_INT(state), TARE_INT(flags), TARE_INT(begin_ns), TARE_INT(end_ns), TARE_INT(nodes),
	TARE_INT_ARRAY(kinds), TARE_INT(ask_ns), TARE_INT(at_instantiate), TARE_INT(at_upload),
	TARE_INT(at_launch), TARE_INT(at_update), TARE_INT(at_destroy), TARE_INT(doubt), TARE_INT(memory),
	TARE_INT(allocated), TARE_INT(by_others), TARE_INT(held),
	TARE_LEFT(parts), TARE_LEFT(part_nr), /* made of the owners when the row is shown */
	TARE_INT(pool), TARE_INT(is_private), TARE_INT(stream), TARE_INT(stream_number), TARE_TEXT(phase),
	TARE_TEXT(source), TARE_INT(used_after), TARE_INT(execs), TARE_INT(alive), TARE_INT(updates),
	TARE_INT(refused), TARE_INT(in_exec_of), TARE_INT(launches), TARE_INT(unweighed),
	TARE_FIELDS_END };
static SHAPE(tare_graph);
#undef SELF

#define SELF struct tare_graph_owner
static const struct tare_shape_field fields_tare_graph_owner[] = {
	TARE_INT(owner), TARE_INT(bytes),
	TARE_FIELDS_END };
static SHAPE(tare_graph_owner);
#undef SELF

#define SELF struct tare_graph_now
static const struct tare_shape_field fields_tare_graph_now[] = {
	TARE_STRUCT(row, tare_shape_tare_graph), TARE_INT(process), TARE_INT(device), TARE_INT(tid),
	TARE_INT(handle), TARE_INT(phase), TARE_INT(site), TARE_INT(known_execs),
	TARE_LIST(owners, tare_shape_tare_graph_owner, owner_nr, owner_cap),
	TARE_FIELDS_END };
static SHAPE(tare_graph_now);
#undef SELF

#define SELF struct tare_graph_pool
static const struct tare_shape_field fields_tare_graph_pool[] = {
	TARE_INT(process), TARE_INT(has_id), TARE_INT(object), TARE_INT(first), TARE_INT(second),
	TARE_INT(begin_ns),
	TARE_FIELDS_END };
static SHAPE(tare_graph_pool);
#undef SELF

#define SELF struct tare_pending_graph_record
static const struct tare_shape_field fields_tare_pending_graph_record[] = {
	TARE_INT(process), TARE_INT(at_ns), TARE_WORDS(graph), TARE_WORDS(mempool),
	TARE_FIELDS_END };
static SHAPE(tare_pending_graph_record);
#undef SELF

#define SELF struct tare_pending_graph_records
static const struct tare_shape_field fields_tare_pending_graph_records[] = {
	TARE_LIST(items, tare_shape_tare_pending_graph_record, count, cap),
	TARE_FIELDS_END };
static SHAPE(tare_pending_graph_records);
#undef SELF

static const struct tare_shape_field fields_tare_map[] = {
	{ .name = "map", .kind = TARE_SHAPED_MAP, .size = sizeof(struct tare_map), .nr = 1 },
	TARE_FIELDS_END };
static SHAPE(tare_map);

#define SELF struct tare_graphs_part
static const struct tare_shape_field fields_tare_graphs_part[] = {
	TARE_ROW(of_handle, tare_shape_tare_map, process_nr),
	TARE_LIST(rows, tare_shape_tare_graph_now, row_nr, row_cap),
	TARE_INTS(capturing, capturing_nr, capturing_cap),
	TARE_LIST(pools, tare_shape_tare_graph_pool, pool_nr, pool_cap),
	TARE_STRUCT(said, tare_shape_tare_pending_graph_records),
	TARE_STRUCT(mempools, tare_shape_tare_pending_graph_records),
	TARE_FIELDS_END };
static SHAPE(tare_graphs_part);
#undef SELF

/* ---- calls that are not settled yet ---- */

#define SELF struct tare_step
static const struct tare_shape_field fields_tare_step[] = {
	TARE_INT(process), TARE_INT(device), TARE_INT(tid), TARE_INT(effect), TARE_INT(class), TARE_INT(flags),
	TARE_INT(is_from_checkpoint), TARE_INT(owner), TARE_INT(site), TARE_INT(call_site), TARE_INT(begin),
	TARE_INT(end), TARE_INT(reading_before), TARE_INT(reading_after), TARE_INT(weigh_begin),
	TARE_INT(weigh_end), TARE_TEXT(phase), TARE_INT(local_growth), TARE_INT(context), TARE_INT(handle),
	TARE_INT(parent), TARE_INT(asked), TARE_INT(granted), TARE_INT(before), TARE_INT(after),
	TARE_INT(peers_before), TARE_INT(peers_after), TARE_INT(local), TARE_INT(limit), TARE_TEXT(name),
	TARE_FIELDS_END };
static SHAPE(tare_step);
#undef SELF

#define SELF struct tare_steps
static const struct tare_shape_field fields_tare_steps[] = {
	TARE_LIST(items, tare_shape_tare_step, count, cap),
	TARE_FIELDS_END };
static SHAPE(tare_steps);
#undef SELF

#define SELF struct tare_thread_end
static const struct tare_shape_field fields_tare_thread_end[] = {
	TARE_INT(process), TARE_INT(tid), TARE_INT(end), TARE_INT(until), TARE_INT(last),
	TARE_FIELDS_END };
static SHAPE(tare_thread_end);
#undef SELF

#define SELF struct tare_end
static const struct tare_shape_field fields_tare_end[] = {
	TARE_INT(process), TARE_INT(t),
	TARE_FIELDS_END };
static SHAPE(tare_end);
#undef SELF

/* ---- devices ---- */

#define SELF struct tare_other_process
static const struct tare_shape_field fields_tare_other_process[] = {
	TARE_INT(pid), TARE_TEXT(name), TARE_INT(bucket), TARE_INT(used), TARE_INT(most), TARE_INT(extra),
	TARE_INT(is_seen), TARE_INT(is_listed), TARE_INT(is_ours),
	TARE_FIELDS_END };
static SHAPE(tare_other_process);
#undef SELF

#define SELF struct tare_other_process_read
static const struct tare_shape_field fields_tare_other_process_read[] = {
	TARE_INT(other), TARE_INT(used),
	TARE_FIELDS_END };
static SHAPE(tare_other_process_read);
#undef SELF

#define SELF struct tare_refusal_fold
static const struct tare_shape_field fields_tare_refusal_fold[] = {
	TARE_INT(owner), TARE_TEXT(api), TARE_INT(count), TARE_INT(largest), TARE_INT(missing),
	TARE_INT(first_ns),
	TARE_FIELDS_END };
static SHAPE(tare_refusal_fold);
#undef SELF

#define SELF struct tare_card_fold
static const struct tare_shape_field fields_tare_card_fold[] = {
	TARE_INT(is_there), TARE_INT(has_profile), TARE_TEXT(name), TARE_INT(total), TARE_INT(reserved),
	TARE_INT(context), TARE_INT(multiprocessors), TARE_INT(threads_per_multiprocessor),
	TARE_INTS(uncounted_by_process, uncounted_nr, uncounted_cap), TARE_INT(uncounted), TARE_INT_ARRAY(moment), TARE_INT_ARRAY(kept),
	TARE_LIST(refusals, tare_shape_tare_refusal_fold, refusal_nr, refusal_cap),
	TARE_FIELDS_END };
static SHAPE(tare_card_fold);
#undef SELF

#define SELF struct tare_cards_part
static const struct tare_shape_field fields_tare_cards_part[] = {
	TARE_ROW(items, tare_shape_tare_card_fold, device_nr),
	TARE_FIELDS_END };
static SHAPE(tare_cards_part);
#undef SELF

#define SELF struct tare_oom_refused
static const struct tare_shape_field fields_tare_oom_refused[] = {
	TARE_INT(process), TARE_INT(tid), TARE_INT(asked),
	TARE_FIELDS_END };
static SHAPE(tare_oom_refused);
#undef SELF

#define SELF struct tare_sample
static const struct tare_shape_field fields_tare_sample[] = {
	TARE_INT(is_there), TARE_INT(t), TARE_INT(used), TARE_INT(live),
	TARE_FIELDS_END };
static SHAPE(tare_sample);
#undef SELF

#define SELF struct tare_samples
static const struct tare_shape_field fields_tare_samples[] = {
	TARE_INT(start), TARE_INT(width), TARE_INT(until), TARE_INT(column), TARE_INT(column_end),
	TARE_INT(part_nr), TARE_LIST_OF(items, tare_shape_tare_sample, TARE_STATE_SAMPLES),
	TARE_INTS_OF(parts, TARE_STATE_SAMPLE_PARTS),
	TARE_FIELDS_END };
static SHAPE(tare_samples);
#undef SELF

#define SELF struct tare_device_fold
static const struct tare_shape_field fields_tare_device_fold[] = {
	TARE_OTHER(device, TARE_STATE_DEVICE), TARE_INT(index),
	TARE_INT(is_measured), TARE_INT(will_be_measured), TARE_INT(used), TARE_INT(used_start), TARE_INT(sum),
	TARE_INT(last_ns), TARE_INT(buckets), TARE_INT(before), TARE_INT(primary),
	TARE_INT_ARRAY(source_known), TARE_INT_ARRAY(source_offset), TARE_INT_ARRAY(moment_nr),
	TARE_INT_ARRAY(moment_used), TARE_INT_ARRAY(moment_live), TARE_INT_ARRAY(moment_ns),
	TARE_INT_ARRAY(has_moment), TARE_INT_ARRAY(has_checkpoint_sums), TARE_STRUCT(cluster, tare_shape_tare_steps),
	TARE_LIST(threads, tare_shape_tare_thread_end, thread_nr, thread_cap), TARE_INT(cluster_until),
	TARE_INT(weighed_until), TARE_INT(unweighed_until), TARE_INT(has_closing), TARE_INT(closing_ns),
	TARE_INT(closing_used), TARE_INT(closing_source), TARE_INT(driver_left), TARE_INT(driver_of),
	TARE_INT(end_next), TARE_INT(worked_ns), TARE_INT(max_begin), TARE_LEFT(max_begin_then), TARE_STRUCT(taken, tare_shape_tare_steps), TARE_LEFT(late),
	TARE_LEFT(late_next), TARE_INT(has_reading), TARE_INT(has_list), TARE_INT(reading_ns),
	TARE_INT(reading_used), TARE_INT(reading_source), TARE_INT(reading_peers), TARE_INT(is_list_from_checkpoint), TARE_INT(list),
	TARE_INT(list_of), TARE_LIST(reads, tare_shape_tare_other_process_read, read_nr, read_cap),
	TARE_LIST(others, tare_shape_tare_other_process, other_nr, other_cap), TARE_INT(live),
	TARE_LIST(blocks, tare_shape_tare_block, block_nr, block_cap),
	TARE_STRUCT(kept_blocks, tare_shape_tare_kept_blocks),
	TARE_STRUCT_ARRAY(kept_segments, tare_shape_tare_kept_segments),
	TARE_INT(is_level_known), TARE_INT(level),
	TARE_INT(unexplained_open), TARE_INT(unexplained_between), TARE_INT(unexplained_inside), TARE_INT(is_pid_mismatch),
	TARE_INT(paused), TARE_INT(is_pause_open), TARE_STRUCT(own_peak, tare_shape_tare_high_water),
	TARE_LEFT(instant_next), TARE_STRUCT(samples, tare_shape_tare_samples), TARE_LEFT(kinds),
	TARE_INT_ARRAY(account_now), TARE_INT(has_recent), TARE_STRUCT(recent, tare_shape_tare_high_water), TARE_FIELDS_END };
static SHAPE(tare_device_fold);
#undef SELF

/* ---- the recording ---- */

#define SELF struct tare_rss_change
static const struct tare_shape_field fields_tare_rss_change[] = {
	TARE_INT(process), TARE_INT(site), TARE_INT(t), TARE_INT(anon), TARE_INT(file),
	TARE_FIELDS_END };
static SHAPE(tare_rss_change);
#undef SELF

#define SELF struct tare_increments_part
static const struct tare_shape_field fields_tare_increments_part[] = {
	TARE_LIST(items, tare_shape_tare_rss_change, count, cap),
	TARE_FIELDS_END };
static SHAPE(tare_increments_part);
#undef SELF

#define SELF struct tare_loss_fold
static const struct tare_shape_field fields_tare_loss_fold[] = {
	TARE_INT(process), TARE_INT(tid), TARE_INT(reason), TARE_INT(records), TARE_INT(from_ns),
	TARE_INT(to_ns),
	TARE_FIELDS_END };
static SHAPE(tare_loss_fold);
#undef SELF

#define SELF struct tare_losses_part
static const struct tare_shape_field fields_tare_losses_part[] = {
	TARE_LIST(items, tare_shape_tare_loss_fold, count, cap),
	TARE_FIELDS_END };
static SHAPE(tare_losses_part);
#undef SELF

#define SELF struct tare_pause_ledger
static const struct tare_shape_field fields_tare_pause_ledger[] = {
	TARE_INT(from_ns), TARE_INT(to_ns), TARE_INT(is_stop),
	TARE_FIELDS_END };
static SHAPE(tare_pause_ledger);
#undef SELF

#define SELF struct tare_paused
static const struct tare_shape_field fields_tare_paused[] = {
	TARE_TEXT(folder), TARE_INT(number), TARE_INT(since), TARE_INT(is_stopped),
	TARE_FIELDS_END };
static SHAPE(tare_paused);
#undef SELF

#define SELF struct tare_pauses_part
static const struct tare_shape_field fields_tare_pauses_part[] = {
	TARE_LIST(paused, tare_shape_tare_paused, paused_nr, paused_cap),
	TARE_LIST(items, tare_shape_tare_pause_ledger, count, cap),
	TARE_FIELDS_END };
static SHAPE(tare_pauses_part);
#undef SELF

#define SELF struct tare_pool_self_report
static const struct tare_shape_field fields_tare_pool_self_report[] = {
	TARE_INT(pid), TARE_INT(generation), TARE_INT(t_ns), TARE_INT(allocated), TARE_INT(reserved),
	TARE_INT(active), TARE_INT(requested), TARE_INT(inactive_split), TARE_INT(is_compared), TARE_INT(live),
	TARE_INT(segments),
	TARE_FIELDS_END };
static SHAPE(tare_pool_self_report);
#undef SELF

#define SELF struct tare_pool_self_report_fold
static const struct tare_shape_field fields_tare_pool_self_report_fold[] = {
	TARE_INT(process), TARE_INT(device), TARE_STRUCT(said, tare_shape_tare_pool_self_report),
	TARE_FIELDS_END };
static SHAPE(tare_pool_self_report_fold);
#undef SELF

#define SELF struct tare_checkpoint_sum
static const struct tare_shape_field fields_tare_checkpoint_sum[] = {
	TARE_INT(process), TARE_INT(device), TARE_INT(moment), TARE_INT(rule), TARE_INT(owner), TARE_INT(is_vmm),
	TARE_INT(bytes), TARE_INT(count),
	TARE_FIELDS_END };
static SHAPE(tare_checkpoint_sum);
#undef SELF

#define SELF struct tare_oom_fold
static const struct tare_shape_field fields_tare_oom_fold[] = {
	TARE_INT(process), TARE_INT(device), TARE_INT(t), TARE_INT(count), TARE_INT(is_torch), TARE_INT(site),
	TARE_INT(owner), TARE_TEXT(api), TARE_INT(asked), TARE_INT(segment), TARE_INT(allocated),
	TARE_INT(reserved), TARE_INT(free), TARE_INT(elastic), TARE_INT(stuck), TARE_INT(held),
	TARE_INT(others),
	TARE_FIELDS_END };
static SHAPE(tare_oom_fold);
#undef SELF

#define SELF struct tare_oom_part
static const struct tare_shape_field fields_tare_oom_part[] = {
	TARE_LIST(items, tare_shape_tare_oom_fold, count, cap),
	TARE_ROW(refused, tare_shape_tare_oom_refused, device_nr),
	TARE_FIELDS_END };
static SHAPE(tare_oom_part);
#undef SELF

#define SELF struct tare_tensors_part
static const struct tare_shape_field fields_tare_tensors_part[] = {
	TARE_MAP(call_of), TARE_INTS(calls, call_nr, call_cap), TARE_LEFT(watched),
	TARE_LIST(self_reports, tare_shape_tare_pool_self_report_fold, self_report_nr, self_report_cap),
	TARE_LIST(checkpoint_sums, tare_shape_tare_checkpoint_sum, checkpoint_sum_nr, checkpoint_sum_cap), TARE_INT(other_stream_blocks),
	TARE_FIELDS_END };
static SHAPE(tare_tensors_part);
#undef SELF

#define SELF struct tare_history_span
static const struct tare_shape_field fields_tare_history_span[] = {
	TARE_INT(known), TARE_TEXT(name), TARE_INT(is_mark), TARE_INT(begin), TARE_INT(end), TARE_INT(count),
	TARE_FIELDS_END };
static SHAPE(tare_history_span);
#undef SELF

#define SELF struct tare_history_part
static const struct tare_shape_field fields_tare_history_part[] = {
	TARE_LIST(items, tare_shape_tare_history_span, count, cap), TARE_MAP(last_of), TARE_INT(dropped),
	TARE_FIELDS_END };
static SHAPE(tare_history_part);
#undef SELF

#define SELF struct tare_ranks_part
static const struct tare_shape_field fields_tare_ranks_part[] = {
	/* Worked out again from the recording. */
	TARE_LEFT(items), TARE_LEFT(count), TARE_LEFT(of), TARE_LEFT(process_nr),
	TARE_FIELDS_END };
static SHAPE(tare_ranks_part);
#undef SELF

#define SELF struct tare_parts
#define TARE_PART(name) TARE_STRUCT(name, tare_shape_tare_##name##_part),
static const struct tare_shape_field fields_tare_parts[] = {
#include "ledger/parts/parts.def"
	TARE_FIELDS_END };
static SHAPE(tare_parts);
#undef SELF

#define SELF struct tare_capture_group
static const struct tare_shape_field fields_tare_capture_group[] = {
	TARE_INT(process), TARE_INT(pool), TARE_INT(is_there),
	TARE_FIELDS_END };
static SHAPE(tare_capture_group);
#undef SELF

#define SELF struct tare_host_fold
static const struct tare_shape_field fields_tare_host_fold[] = {
	TARE_INT(live), TARE_INT(most), TARE_INT_ARRAY(has_moment), TARE_INT_ARRAY(has_checkpoint_sums),
	TARE_INT_ARRAY(moment_ns), TARE_STRUCT(kept, tare_shape_tare_kept_blocks),
	TARE_LIST(queue, tare_shape_tare_block, queue_nr, queue_cap), TARE_INT(queue_at),
	TARE_LEFT(timed_next), TARE_STRUCT(samples, tare_shape_tare_samples), TARE_LEFT(kinds),
	TARE_INT_ARRAY(parts), TARE_INT(part_nr),
	TARE_FIELDS_END };
static SHAPE(tare_host_fold);
#undef SELF

#define SELF struct tare_fold
static const struct tare_shape_field fields_tare_fold[] = {
	/* Of whoever asks, and what is built for them. */
	TARE_LEFT(source), TARE_LEFT(arena), TARE_LEFT(timed), TARE_LEFT(timed_nr), TARE_LEFT(host_next),
	TARE_LEFT(history), TARE_LEFT(history_by_category), TARE_LEFT(keeps_history),
	TARE_LEFT(lines), TARE_LEFT(without_tensors), TARE_LEFT(watches), TARE_LEFT(watch_nr), TARE_LEFT(ops), TARE_LEFT(is_over),
	TARE_LEFT(ahead), /* caught up before */
	TARE_LEFT(phase_changes), /* handed on before */
	TARE_INT(page), TARE_INT(weigh), TARE_ITEMS(devices, tare_shape_tare_device_fold, device_nr),
	TARE_ITEMS(processes, tare_shape_tare_process_fold, process_nr),
	TARE_LIST(buckets, tare_shape_tare_bucket, bucket_nr, bucket_cap),
	TARE_LIST(contexts, tare_shape_tare_context, context_nr, context_cap),
	TARE_LIST(objects, tare_shape_tare_object_live, object_nr, object_cap), TARE_INT(object_free),
	TARE_LIST(physicals, tare_shape_tare_physical, physical_nr, physical_cap), TARE_INT(physical_free),
	TARE_MAP(physicals_by_number), TARE_LIST(imports, tare_shape_tare_import, import_nr, import_cap),
	TARE_LIST(mappings, tare_shape_tare_mapping, mapping_nr, mapping_cap), TARE_STRMAP(owner_ids),
	TARE_TEXTS(owners, owner_nr, owner_cap), TARE_STRUCT(no_site, tare_shape_tare_site),
	TARE_LIST(sites, tare_shape_tare_site, site_nr, site_cap),
	TARE_LIST(origins, tare_shape_tare_origin, origin_nr, origin_cap), TARE_MAP(undo_of),
	TARE_LIST(undos, tare_shape_tare_undo, undo_nr, undo_cap),
	TARE_LIST(groups, tare_shape_tare_capture_group, group_nr, group_cap), TARE_INT(group_pool_nr),
	TARE_INT(block_serial), TARE_INT_ARRAY(host_moment_nr), TARE_STRUCT(host, tare_shape_tare_host_fold), TARE_INT(max_begin_all),
	TARE_LIST(ends, tare_shape_tare_end, end_nr, end_cap), TARE_INT(end_next), TARE_INT(worked_ns),
	TARE_INT(last_ns), TARE_INT(seen_ns), TARE_INT(first_ns), TARE_INT(known_ns), TARE_INT(opened_gpu),
	TARE_INT(is_paused), TARE_INT(pause_nr), TARE_LIST(large, tare_shape_tare_large, large_nr, large_cap),
	TARE_INT(checkpoint_sums_ns), TARE_ITEM(parts, tare_shape_tare_parts), TARE_INT(unweighed),
	TARE_INT(unknown_frees), TARE_INT(missed_frees), TARE_TEXTS(notes, note_nr, note_cap),
	TARE_FIELDS_END };
SHAPE(tare_fold);
#undef SELF
