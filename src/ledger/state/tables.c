/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the books is kept when a fold is saved, and what of all: the parts have their tables in their folders
 * (ledger/core/fields.h).
 */
#include "ledger/state/state.h"

#include "ledger/core/fields.h"
#include "ledger/parts/parts.h"
#include "ledger/settle/settle.h"
#include "ledger/state/private.h"

/* clang-format off */

/* ---- amounts and buckets ---- */

#define SELF struct tare_amount
static const struct tare_shape_field fields_tare_amount[] = {
	TARE_INT(bytes), TARE_INT(low), TARE_INT(high), TARE_INT(count), TARE_INT(ns), TARE_INT(evidence),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_amount);
#undef SELF

#define SELF struct tare_bucket
static const struct tare_shape_field fields_tare_bucket[] = {
	TARE_STRUCT(now, tare_shape_tare_amount), TARE_INT(least), TARE_INT_ARRAY(moment),
	TARE_INT(device), TARE_INT(process), TARE_INT(context), TARE_INT(account), TARE_INT(is_subdivided),
	TARE_INT(owner), TARE_INT(site), TARE_INT(next_of_device), TARE_INT(next_of_context),
	TARE_STRUCT_ARRAY(kept, tare_shape_tare_amount),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_bucket);
#undef SELF

#define SELF struct tare_site
static const struct tare_shape_field fields_tare_site[] = {
	TARE_OTHER(process, TARE_STATE_PROCESS), TARE_OTHER(python, TARE_STATE_PYTHON),
	TARE_OTHER(stack, TARE_STATE_STACK),
	TARE_INT(pc), TARE_INT(is_backward), TARE_INT(host_bytes), TARE_INT(least), TARE_INT(segment_owner), TARE_INT(segment_context),
	TARE_INT(tensor), TARE_INT(ever_allocated), TARE_INT(is_placed), TARE_INT(maker), TARE_INT(begins_backward),
	TARE_INT(call), TARE_INT(outlived_bytes), TARE_INT(last_bytes), TARE_INT(largest_bytes), TARE_INT(largest_nr), TARE_INT(replaced), TARE_INT(other_ends),
	TARE_INT(keeps_for_parameter), TARE_INT(keeps_copies), TARE_INT(kept_as), TARE_INT(outer), TARE_INT(recorded), TARE_INT(taken_back), TARE_INT(brief),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_site);
#undef SELF

#define SELF struct tare_origin
static const struct tare_shape_field fields_tare_origin[] = {
	TARE_INT(owner), TARE_INT(site),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_origin);
#undef SELF

#define SELF struct tare_op
static const struct tare_shape_field fields_tare_op[] = {
	TARE_INT(bucket), TARE_STRUCT(by, tare_shape_tare_amount),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_op);
#undef SELF

#define SELF struct tare_ops
static const struct tare_shape_field fields_tare_ops[] = {
	TARE_LIST(items, tare_shape_tare_op, count, cap),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_ops);
#undef SELF

/* ---- objects ---- */

#define SELF struct tare_object_live
static const struct tare_shape_field fields_tare_object_live[] = {
	TARE_INT(handle), TARE_INT(asked), TARE_INT(granted), TARE_INT(process), TARE_INT(device),
	TARE_INT(context), TARE_INT(bucket), TARE_INT(prev), TARE_INT(next), TARE_INT(graph), TARE_INT(class),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_object_live);
#undef SELF

#define SELF struct tare_refs
static const struct tare_shape_field fields_tare_refs[] = {
	TARE_INT(handles), TARE_INT(mappings),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_refs);
#undef SELF

#define SELF struct tare_physical
static const struct tare_shape_field fields_tare_physical[] = {
	TARE_INT(handle), TARE_INT(bytes), TARE_INT(identity), TARE_INT(exported_ns), TARE_INT(process),
	TARE_INT(device), TARE_INT(bucket), TARE_STRUCT(refs, tare_shape_tare_refs), TARE_INT(holder),
	TARE_INT(is_live), TARE_INT(is_lent), TARE_INT(is_allocation),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_physical);
#undef SELF

#define SELF struct tare_import
static const struct tare_shape_field fields_tare_import[] = {
	TARE_INT(handle), TARE_INT(identity), TARE_INT(bytes), TARE_INT(begin_ns), TARE_INT(process),
	TARE_INT(device), TARE_STRUCT(refs, tare_shape_tare_refs), TARE_INT(origin), TARE_INT(is_live),
	TARE_INT(is_address),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_import);
#undef SELF

#define SELF struct tare_mapping
static const struct tare_shape_field fields_tare_mapping[] = {
	TARE_INT(at), TARE_INT(bytes), TARE_INT(ref), TARE_INT(process), TARE_INT(graph),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_mapping);
#undef SELF

#define SELF struct tare_asleep
static const struct tare_shape_field fields_tare_asleep[] = {
	TARE_INT(at), TARE_INT(bytes), TARE_INT(process), TARE_INT(device), TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_asleep);
#undef SELF

#define SELF struct tare_context
static const struct tare_shape_field fields_tare_context[] = {
	TARE_INT(handle), TARE_INT(process), TARE_INT(device), TARE_INT(number), TARE_INT(is_primary),
	TARE_INT(is_live), TARE_INT(local_held), TARE_INT(heap_wanted), TARE_INT_ARRAY(bucket_of),
	TARE_MAP(parts), TARE_INT(buckets), TARE_INT(objects), TARE_ITEM(facts, tare_shape_tare_facts),
	TARE_INT(exec_nodes), TARE_INT(exec_nodes_high),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_context);
#undef SELF

#define SELF struct tare_undo
static const struct tare_shape_field fields_tare_undo[] = {
	TARE_LIST(objects, tare_shape_tare_object_live, object_nr, object_cap),
	TARE_STRUCT(ops, tare_shape_tare_ops), TARE_INT(context), TARE_INT(handle),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_undo);
#undef SELF

/* ---- PyTorch's segments and blocks ---- */

#define SELF struct tare_on_stream
static const struct tare_shape_field fields_tare_on_stream[] = {
	TARE_INT(id), TARE_INT(ids), TARE_INT(is_known),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_on_stream);
#undef SELF

#define SELF struct tare_thread_stream
static const struct tare_shape_field fields_tare_thread_stream[] = {
	TARE_STRUCT(on, tare_shape_tare_on_stream), TARE_INT(tid), TARE_INT(device),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_thread_stream);
#undef SELF

#define SELF struct tare_segment
static const struct tare_shape_field fields_tare_segment[] = {
	TARE_INT(at), TARE_INT(size), TARE_INT(owner), TARE_STRUCT(on, tare_shape_tare_on_stream),
	TARE_INT(other_stream_blocks), TARE_INT(live), TARE_INT(context), TARE_INT(process), TARE_INT(graph),
	TARE_INT(is_held), TARE_INT(is_expandable), TARE_INT(is_trial), TARE_INT(partly), TARE_INT_ARRAY(moment),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_segment);
#undef SELF

#define SELF struct tare_segments
static const struct tare_shape_field fields_tare_segments[] = {
	TARE_LIST(items, tare_shape_tare_segment, count, cap),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_segments);
#undef SELF

#define SELF struct tare_kept_segments
static const struct tare_shape_field fields_tare_kept_segments[] = {
	TARE_LIST(items, tare_shape_tare_segment, count, cap), TARE_INT(moment),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_kept_segments);
#undef SELF

#define SELF struct tare_block_facts
static const struct tare_shape_field fields_tare_block_facts[] = {
	TARE_INT(booked), TARE_INT(worker), TARE_INT(section), TARE_INT(backwards), TARE_INT(forwards),
	TARE_INT(turn), TARE_INT(call), TARE_INT(name), TARE_INT(named_by), TARE_INT(shape), TARE_INT(module), TARE_INT(pass),
	TARE_INT(call_depth), TARE_INT(kind), TARE_INT(before), TARE_INT(maker), TARE_INT(role), TARE_INT(role_flags),
	TARE_INT(beside_training), TARE_INT(is_trained), TARE_INT(is_beside), TARE_LEFT(unused), /* 0 */
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_block_facts);
#undef SELF

#define SELF struct tare_recent_facts
static const struct tare_shape_field fields_tare_recent_facts[] = {
	TARE_INT(changes), TARE_INT(facts),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_recent_facts);
#undef SELF

#define SELF struct tare_block_facts_list
static const struct tare_shape_field fields_tare_block_facts_list[] = {
	TARE_LIST(items, tare_shape_tare_block_facts, count, cap), TARE_INT(free), TARE_INT(look_at), TARE_STRUCT_ARRAY(recent, tare_shape_tare_recent_facts),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_block_facts_list);
#undef SELF

#define SELF struct tare_live_block
static const struct tare_shape_field fields_tare_live_block[] = {
	TARE_INT(address), TARE_INT(bytes), TARE_INT(born_ns), TARE_INT(serial), TARE_INT(process), TARE_INT(site),
	TARE_INT(facts), TARE_INT(bucket), TARE_INT(flags), TARE_INT(marks), TARE_INT(lived_backwards), TARE_INT(lived_forwards),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_live_block);
#undef SELF

#define SELF struct tare_known_block
static const struct tare_shape_field fields_tare_known_block[] = {
	TARE_STRUCT(block, tare_shape_tare_live_block), TARE_STRUCT(facts, tare_shape_tare_block_facts),
	TARE_FIELDS_END };
TARE_FIELD_TABLE(tare_known_block);
#undef SELF

#define SELF struct tare_kept_block
static const struct tare_shape_field fields_tare_kept_block[] = {
	TARE_STRUCT(block, tare_shape_tare_live_block), TARE_INT(gone),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_kept_block);
#undef SELF

#define SELF struct tare_kept_blocks
static const struct tare_shape_field fields_tare_kept_blocks[] = {
	TARE_LIST(items, tare_shape_tare_kept_block, count, cap), TARE_INT_ARRAY(at),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_kept_blocks);
#undef SELF

#define SELF struct tare_block
static const struct tare_shape_field fields_tare_block[] = {
	TARE_INT(address), TARE_INT(bytes), TARE_INT(t), TARE_INT(born_ns), TARE_INT(process), TARE_INT(site),
	TARE_INT(tid), TARE_INT(flags), TARE_INT(module), TARE_STRUCT(on, tare_shape_tare_on_stream), TARE_INT(look),
	TARE_INT(looker),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_block);
#undef SELF

#define SELF struct tare_pass
static const struct tare_shape_field fields_tare_pass[] = {
	TARE_INT(number), TARE_INT(live), TARE_INT(kept), TARE_INT(gone), TARE_INT(gone_at),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_pass);
#undef SELF

#define SELF struct tare_passes
static const struct tare_shape_field fields_tare_passes[] = {
	TARE_LIST(items, tare_shape_tare_pass, count, cap), TARE_INT(free), TARE_INT(last), TARE_MAP(gone),
	TARE_MAP(said),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_passes);
#undef SELF

#define SELF struct tare_call_now
static const struct tare_shape_field fields_tare_call_now[] = {
	TARE_INT(call), TARE_INT(serial),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_call_now);
#undef SELF

#define SELF struct tare_worker
static const struct tare_shape_field fields_tare_worker[] = {
	TARE_INT(tid), TARE_INT(is_seen_at_work), TARE_INT(is_engine), TARE_INT(serves), TARE_INT(kind),
	TARE_INT(before), TARE_INT(section), TARE_INT(backwards), TARE_INT(forwards), TARE_INT(optimizers),
	TARE_INT_ARRAY(in_turn), TARE_INT(in_turn_nr), TARE_INT(rounds),
	TARE_INT(forwards_then), TARE_STRUCT_ARRAY(calls, tare_shape_tare_call_now), TARE_INT(call_nr),
	TARE_INT(call), TARE_INT(serials), TARE_INT(last_site), TARE_INT(last_bytes), TARE_INT(last_address),
	TARE_STRUCT(passes, tare_shape_tare_passes), TARE_MAP(fates),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_worker);
#undef SELF

#define SELF struct tare_work
static const struct tare_shape_field fields_tare_work[] = {
	TARE_LIST(workers, tare_shape_tare_worker, count, cap), TARE_MAP(of_tid), TARE_INT(leader),
	TARE_INT(starter), TARE_INT(grad), TARE_INT(last), TARE_STRUCT(facts, tare_shape_tare_block_facts_list),
	TARE_INT(changes),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_work);
#undef SELF

#define SELF struct tare_blocks
static const struct tare_shape_field fields_tare_blocks[] = {
	TARE_STRUCT(work, tare_shape_tare_work), TARE_LEFT(places), /* restored */
	TARE_LIST(items, tare_shape_tare_live_block, count, cap), TARE_INT(free),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_blocks);
#undef SELF

#define SELF struct tare_heap_block
static const struct tare_shape_field fields_tare_heap_block[] = {
	TARE_INT(address), TARE_INT(bytes), TARE_INT(variance), TARE_INT(bucket), TARE_INT(context), TARE_INT(count),
	TARE_INT(is_reserved),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_heap_block);
#undef SELF

#define SELF struct tare_heap_blocks
static const struct tare_shape_field fields_tare_heap_blocks[] = {
	TARE_MAP(place_of), TARE_LIST(items, tare_shape_tare_heap_block, count, cap), TARE_INT(free),
	TARE_LEFT(first_pages), /* restored */ TARE_LEFT(booked), /* fills itself again */ TARE_MAP(moving),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_heap_blocks);
#undef SELF

#define SELF struct tare_process_on_device
static const struct tare_shape_field fields_tare_process_on_device[] = {
	TARE_STRUCT(segments, tare_shape_tare_segments), TARE_STRUCT(blocks, tare_shape_tare_blocks),
	TARE_STRUCT(heap, tare_shape_tare_heap_blocks), TARE_STRUCT(mapped, tare_shape_tare_heap_blocks),
	TARE_MAP(contexts), TARE_MAP(pages), TARE_INT(managed), TARE_INT(host_booked), TARE_INT(created), TARE_INT(is_contradicted),
	TARE_INT(is_left), TARE_INT(is_removed), TARE_INT(is_subdivided),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_process_on_device);
#undef SELF

/* ---- processes ---- */

#define SELF struct tare_host_tensors
static const struct tare_shape_field fields_tare_host_tensors[] = {
	TARE_INT(is_known), TARE_INT(bytes), TARE_INT(count), TARE_INT(mapped), TARE_INT(mapped_count),
	TARE_INT(most), TARE_INT(is_partial),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_host_tensors);
#undef SELF

#define SELF struct tare_host_now
static const struct tare_shape_field fields_tare_host_now[] = {
	TARE_INT(is_read), TARE_INT(anon), TARE_INT(file), TARE_INT(shmem), TARE_INT(swap), TARE_INT(pss),
	TARE_STRUCT(tensors, tare_shape_tare_host_tensors),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_host_now);
#undef SELF

#define SELF struct tare_scan_entry
static const struct tare_shape_field fields_tare_scan_entry[] = {
	TARE_INT(at), TARE_INT(of), TARE_INT(name), TARE_INT(shape), TARE_INT(role), TARE_INT(flags),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_scan_entry);
#undef SELF

#define SELF struct tare_scan_entries
static const struct tare_shape_field fields_tare_scan_entries[] = {
	TARE_LIST(items, tare_shape_tare_scan_entry, count, cap), TARE_INT(scans),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_scan_entries);
#undef SELF

#define SELF struct tare_module
static const struct tare_shape_field fields_tare_module[] = {
	TARE_INT(at), TARE_INT(class), TARE_INT(name), TARE_INT(parent), TARE_INT(order), TARE_INT(is_told), TARE_INT(is_found),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_module);
#undef SELF

#define SELF struct tare_modules
static const struct tare_shape_field fields_tare_modules[] = {
	TARE_LIST(items, tare_shape_tare_module, count, cap), TARE_MAP(of_address), TARE_MAP(of_thread),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_modules);
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
	TARE_STRUCT(scanned, tare_shape_tare_scan_entries), TARE_STRUCT(modules, tare_shape_tare_modules),
	TARE_INT(end_ns),
	TARE_INT(is_torn_down), TARE_STRUCT(host_blocks, tare_shape_tare_blocks), TARE_MAP(mapped_files), TARE_INT_ARRAY(steps),
	TARE_LEFT(host_row), /* of the ledgers that are asked for */
	TARE_INT(host_part), TARE_STRUCT(host, tare_shape_tare_host_now),
	TARE_STRUCT_ARRAY(host_kept, tare_shape_tare_host_now), TARE_INT_ARRAY(host_moment),
	TARE_INT(has_first_anon), TARE_INT(first_anon),
	TARE_INT(most_resident), TARE_INT(most_file),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_process_fold);
#undef SELF

/* ---- calls that are not settled yet ---- */

#define SELF struct tare_step
static const struct tare_shape_field fields_tare_step[] = {
	TARE_INT(process), TARE_INT(device), TARE_INT(tid), TARE_INT(effect), TARE_INT(class), TARE_INT(flags),
	TARE_INT(owner), TARE_INT(site), TARE_INT(call_site), TARE_INT(begin),
	TARE_INT(end), TARE_INT(reading_before), TARE_INT(reading_after), TARE_INT(weigh_begin),
	TARE_INT(weigh_end), TARE_TEXT(phase), TARE_INT(local_growth), TARE_INT(context), TARE_INT(handle),
	TARE_INT(parent), TARE_INT(asked), TARE_INT(granted), TARE_INT(before), TARE_INT(after),
	TARE_INT(peers_before), TARE_INT(peers_after), TARE_INT(local), TARE_INT(limit), TARE_TEXT(name),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_step);
#undef SELF

#define SELF struct tare_steps
static const struct tare_shape_field fields_tare_steps[] = {
	TARE_LIST(items, tare_shape_tare_step, count, cap),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_steps);
#undef SELF

#define SELF struct tare_thread_end
static const struct tare_shape_field fields_tare_thread_end[] = {
	TARE_INT(process), TARE_INT(tid), TARE_INT(end), TARE_INT(until), TARE_INT(last),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_thread_end);
#undef SELF

#define SELF struct tare_end
static const struct tare_shape_field fields_tare_end[] = {
	TARE_INT(process), TARE_INT(t),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_end);
#undef SELF

/* ---- devices ---- */

#define SELF struct tare_other_process
static const struct tare_shape_field fields_tare_other_process[] = {
	TARE_INT(pid), TARE_TEXT(name), TARE_INT(bucket), TARE_INT(used), TARE_INT(most), TARE_INT(extra),
	TARE_INT(is_seen), TARE_INT(is_listed), TARE_INT(is_ours),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_other_process);
#undef SELF

#define SELF struct tare_other_process_read
static const struct tare_shape_field fields_tare_other_process_read[] = {
	TARE_INT(other), TARE_INT(used),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_other_process_read);
#undef SELF

#define SELF struct tare_sample
static const struct tare_shape_field fields_tare_sample[] = {
	TARE_INT(is_there), TARE_INT(t), TARE_INT(used), TARE_INT(live),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_sample);
#undef SELF

#define SELF struct tare_samples
static const struct tare_shape_field fields_tare_samples[] = {
	TARE_INT(start), TARE_INT(width), TARE_INT(until), TARE_INT(column), TARE_INT(column_end),
	TARE_INT(part_nr), TARE_LIST_OF(items, tare_shape_tare_sample, TARE_STATE_SAMPLES),
	TARE_INTS_OF(parts, TARE_STATE_SAMPLE_PARTS),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_samples);
#undef SELF

#define SELF struct tare_device_fold
static const struct tare_shape_field fields_tare_device_fold[] = {
	TARE_OTHER(device, TARE_STATE_DEVICE), TARE_INT(index),
	TARE_INT(is_measured), TARE_INT(will_be_measured), TARE_INT(used), TARE_INT(used_start), TARE_INT(sum),
	TARE_INT(last_ns), TARE_INT(buckets), TARE_INT(before), TARE_INT(primary),
	TARE_INT_ARRAY(source_known), TARE_INT_ARRAY(source_offset), TARE_INT_ARRAY(moment_nr),
	TARE_INT_ARRAY(moment_used), TARE_INT_ARRAY(moment_live), TARE_INT_ARRAY(moment_ns),
	TARE_INT_ARRAY(has_moment), TARE_STRUCT(cluster, tare_shape_tare_steps),
	TARE_LIST(threads, tare_shape_tare_thread_end, thread_nr, thread_cap), TARE_INT(cluster_until),
	TARE_INT(weighed_until), TARE_INT(unweighed_until), TARE_INT(has_closing), TARE_INT(closing_ns),
	TARE_INT(closing_used), TARE_INT(closing_source), TARE_INT(driver_left), TARE_INT(driver_of),
	TARE_INT(end_next), TARE_INT(worked_ns), TARE_INT(max_begin), TARE_LEFT(max_begin_then), TARE_STRUCT(taken, tare_shape_tare_steps), TARE_LEFT(late),
	TARE_LEFT(late_next), TARE_INT(has_reading), TARE_INT(has_list), TARE_INT(reading_ns),
	TARE_INT(reading_used), TARE_INT(reading_source), TARE_INT(reading_peers), TARE_INT(list),
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
static TARE_FIELD_TABLE(tare_device_fold);
#undef SELF

/* ---- the recording ---- */

#define TARE_PART(name) extern const struct tare_shape tare_shape_tare_##name##_part;
#include "ledger/parts/parts.def"

#define SELF struct tare_parts
#define TARE_PART(name) TARE_STRUCT(name, tare_shape_tare_##name##_part),
static const struct tare_shape_field fields_tare_parts[] = {
#include "ledger/parts/parts.def"
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_parts);
#undef SELF

#define SELF struct tare_capture_group
static const struct tare_shape_field fields_tare_capture_group[] = {
	TARE_INT(process), TARE_INT(pool), TARE_INT(is_there),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_capture_group);
#undef SELF

#define SELF struct tare_host_fold
static const struct tare_shape_field fields_tare_host_fold[] = {
	TARE_INT(live), TARE_INT(most), TARE_INT_ARRAY(has_moment),
	TARE_INT_ARRAY(moment_ns), TARE_STRUCT(kept, tare_shape_tare_kept_blocks),
	TARE_LIST(queue, tare_shape_tare_block, queue_nr, queue_cap), TARE_INT(queue_at),
	TARE_LEFT(timed_next), TARE_STRUCT(samples, tare_shape_tare_samples), TARE_LEFT(kinds),
	TARE_INT_ARRAY(parts), TARE_INT(part_nr),
	TARE_FIELDS_END };
static TARE_FIELD_TABLE(tare_host_fold);
#undef SELF

#define SELF struct tare_fold
static const struct tare_shape_field fields_tare_fold[] = {
	/* Of whoever asks, and what is built for them. */
	TARE_LEFT(source), TARE_LEFT(arena), TARE_LEFT(timed), TARE_LEFT(timed_nr), TARE_LEFT(host_next),
	TARE_LEFT(history), TARE_LEFT(history_by_category), TARE_LEFT(step_curves), TARE_LEFT(keeps_history), TARE_LEFT(is_from_state),
	TARE_LEFT(lines), TARE_LEFT(without_heap_lines), TARE_LEFT(without_tensors), TARE_LEFT(watches), TARE_LEFT(watch_nr), TARE_LEFT(later), TARE_LEFT(ops), TARE_LEFT(is_over),
	TARE_LEFT(ahead), /* caught up before */
	TARE_LEFT(phase_changes), /* handed on before */
	TARE_INT(page), TARE_INT(weigh), TARE_ITEMS(devices, tare_shape_tare_device_fold, device_nr),
	TARE_ITEMS(processes, tare_shape_tare_process_fold, process_nr),
	TARE_LIST(buckets, tare_shape_tare_bucket, bucket_nr, bucket_cap),
	TARE_LIST(contexts, tare_shape_tare_context, context_nr, context_cap),
	TARE_LIST(objects, tare_shape_tare_object_live, object_nr, object_cap), TARE_INT(object_free),
	TARE_LIST(physicals, tare_shape_tare_physical, physical_nr, physical_cap), TARE_INT(physical_free),
	TARE_LIST(imports, tare_shape_tare_import, import_nr, import_cap),
	TARE_LIST(mappings, tare_shape_tare_mapping, mapping_nr, mapping_cap),
	TARE_LIST(asleep, tare_shape_tare_asleep, asleep_nr, asleep_cap), TARE_STRMAP(owner_ids),
	TARE_TEXTS(owners, owner_nr, owner_cap), TARE_STRUCT(no_site, tare_shape_tare_site),
	TARE_LIST(sites, tare_shape_tare_site, site_nr, site_cap),
	TARE_LIST(origins, tare_shape_tare_origin, origin_nr, origin_cap), TARE_MAP(undo_of),
	TARE_LIST(undos, tare_shape_tare_undo, undo_nr, undo_cap),
	TARE_LIST(groups, tare_shape_tare_capture_group, group_nr, group_cap), TARE_INT(group_pool_nr),
	TARE_INT(block_serial), TARE_INT_ARRAY(host_moment_nr), TARE_STRUCT(host, tare_shape_tare_host_fold), TARE_INT(max_begin_all),
	TARE_LIST(ends, tare_shape_tare_end, end_nr, end_cap), TARE_INT(end_next), TARE_INT(worked_ns),
	TARE_INT(last_ns), TARE_INT(seen_ns), TARE_INT(first_ns), TARE_INT(known_ns), TARE_LEFT(kept), TARE_INT(opened_gpu),
	TARE_INT(is_paused), TARE_INT(pause_nr), TARE_LIST(large, tare_shape_tare_large, large_nr, large_cap),
	TARE_ITEM(parts, tare_shape_tare_parts), TARE_INT(unweighed),
	TARE_INT(unknown_frees), TARE_INT(missed_frees), TARE_TEXTS(notes, note_nr, note_cap),
	TARE_FIELDS_END };
TARE_FIELD_TABLE(tare_fold);
#undef SELF
