/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane, as src/record/lane.h has it: a thread that writes, and drains itself when there is no room, and two drainers, of
 * which one settles a prefix of the log once. Each of them may stop for ever after any step, or go on much later. A
 * reader looks after every step, as if all had been killed there. A unit stands for a cell; the record of position p is the number p + 1.
 *
 * t_model.py runs it, and each of its mutants, which must fail.
 */
#ifndef RECORDS
#define RECORDS 3
#endif
#define SIZE      2    /* of the lane */
#define LOG       36   /* room in the log that drainers may take */
#define TAIL_MASK 3    /* a plan has the low bits of tail only; a block is shorter than what they tell apart */
#define HALF      99   /* a record that is being written */
#define HEAD_OF(tail, size) (100 + (tail) * 4 + (size)) /* of a block: the LANE record */

/* The ring. */
byte bytes[SIZE], head, tail, log_end;
int plan; /* 0: none yet; else as PLAN() packs it */
#define PLAN(begin, tail, size) ((begin) << 5 | ((tail) & TAIL_MASK) << 3 | (size) << 1 | 1)
#define PLAN_SIZE(plan)  ((plan) >> 1 & 3)
#define PLAN_TAIL(plan)  ((plan) >> 3 & TAIL_MASK)
#define PLAN_BEGIN(plan) ((plan) >> 5)
#define IS_FOR(plan, tail) ((plan) && PLAN_TAIL(plan) == ((tail) & TAIL_MASK))

/* The log; 0: not written. A byte of it has one value for ever. */
byte file[LOG];
byte settled; /* nothing new is written below */

inline write_unit(at, value) {
	atomic {
#ifdef MUTANT_WRITE_FORGOTTEN
		if :: skip :: file[at] = value fi
#else
		assert(file[at] == value || (file[at] == 0 && at >= settled));
		file[at] = value
#endif
	}
}

/* One block; `result` as tare_lane_drain() answers: MORE, NOTHING or FAILED. */
#define NOTHING 0
#define MORE    1
#define FAILED  2
inline drain() {
	t = tail;
	h = head;
	if
	:: h == t -> result = NOTHING; goto drained
	:: h != t && h - t > SIZE -> result = MORE; goto drained /* tail has moved meanwhile */
	:: else
	fi;
	result = MORE;

	/* the plan for this tail */
	p = plan;
	if
	:: IS_FOR(p, t) -> skip
	:: else ->
#ifndef MUTANT_PLAN_OF_ANOTHER_TAIL
		if :: tail != t -> goto drained :: else fi;
#endif
		d_step { size = h - t; begin = log_end; log_end = log_end + 1 + size; assert(log_end <= LOG) };
		atomic {
#ifdef MUTANT_PLAN_STORED
			plan = PLAN(begin, t, size); p = plan; size = 0
#else
			if
			:: plan == p -> plan = PLAN(begin, t, size); p = plan; size = 0
			:: else -> p = plan
			fi
#endif
		};
		if
		:: size == 0 -> begin = 0
		:: else ->
			/* another was quicker: the room goes back if nobody took more of it */
			d_step {
#ifdef MUTANT_ROOM_GIVEN_BACK
				log_end = begin;
#else
				if :: log_end == begin + 1 + size -> log_end = begin :: else fi;
#endif
				size = 0; begin = 0
			};
			if :: IS_FOR(p, t) -> skip :: else -> goto drained fi
		fi
	fi;
	h = head;
	if :: tail != t -> goto drained :: else fi;
	assert(PLAN_SIZE(p) > 0 && PLAN_SIZE(p) <= h - t && h - t <= SIZE); /* else -EBADMSG */

	copy[0] = bytes[t % SIZE];
	if :: PLAN_SIZE(p) == 2 -> copy[1] = bytes[(t + 1) % SIZE] :: else fi;
#ifndef MUTANT_COPY_UNCHECKED
	if :: tail != t -> goto drained :: else fi;
#endif

	/* the disk may be full, or another limit may be met, at any time */
	if
	:: skip
	:: atomic { result = FAILED; is_refused = true }; goto drained
	fi;
#ifdef MUTANT_TAIL_BEFORE_WRITE
	atomic { if :: tail == t -> tail = t + PLAN_SIZE(p) :: else fi };
#endif
	write_unit(PLAN_BEGIN(p), HEAD_OF(t, PLAN_SIZE(p)));
	write_unit(PLAN_BEGIN(p) + 1, copy[0]);
	if :: PLAN_SIZE(p) == 2 -> write_unit(PLAN_BEGIN(p) + 2, copy[1]) :: else fi;
#ifdef MUTANT_TAIL_STORED
	tail = t + PLAN_SIZE(p);
#else
	atomic { if :: tail == t -> tail = t + PLAN_SIZE(p) :: else fi };
#endif
drained:
	atomic { t = 0; h = 0; p = 0; size = 0; begin = 0; copy[0] = 0; copy[1] = 0 }
}

/* Another drainer is `tare`, or the thread that takes what a program left at its end. */
active proctype drainer() {
	byte t, h, size, begin, copy[2], result;
	int p;
	bool is_refused;

end:	do
	:: drain(); atomic { result = 0; is_refused = false }
	od
}

/* Room at the end of the log stays empty, and the plan of the lane shall lie behind it. */
inline settle() {
	d_step { below = log_end; log_end++; assert(log_end <= LOG) };
	do
	:: p = plan;
	   if :: p && PLAN_BEGIN(p) >= below -> break :: else fi;
	   t = tail;
	   if
#ifndef MUTANT_SETTLED_UNFINISHED
	   :: IS_FOR(p, t) ->
		lies = PLAN_BEGIN(p);
		drain();
		if :: result == FAILED -> below = lies; break :: else fi;
		atomic { result = 0; lies = 0 }
#endif
	   :: else ->
#ifdef MUTANT_SETTLED_WITHOUT_PLAN
		break
#else
		atomic { if :: plan == p -> plan = PLAN(below, t + TAIL_MASK, 0) :: else fi }
#endif
	   fi
	od;
	atomic { settled = below; t = 0; p = 0; lies = 0; below = 0; result = 0; is_refused = false }
}

active proctype settler() {
	byte t, h, size, begin, copy[2], result, below, lies;
	int p;
	bool is_refused;

end:	do
	:: drain(); atomic { result = 0; is_refused = false }
	:: settle(); break
	od
}

active proctype thread() {
	byte t, h, size, begin, copy[2], result, tail_seen;
	int p;
	bool is_refused;

end:	do
	:: head < RECORDS ->
		do
		:: head - tail_seen < SIZE -> break
		:: else ->
			tail_seen = tail;
			if
			:: head - tail_seen < SIZE -> break
			:: else ->
				drain();
				if
#ifdef MUTANT_LOST_WHEN_LATE
				:: result != NOTHING ->
#else
				:: result == FAILED ->
#endif
					assert(is_refused && head - tail_seen == SIZE); /* lost implies full and a failed write */
					goto next
				:: else -> result = 0
				fi
			fi
		od;
#ifdef MUTANT_PUBLISHED_EARLY
		head++;
		bytes[(head - 1) % SIZE] = HALF;
		bytes[(head - 1) % SIZE] = head;
#else
		bytes[head % SIZE] = HALF;
		bytes[head % SIZE] = head + 1;
		head++;
#endif
next:		atomic { result = 0; is_refused = false }
	od
}

/* All were killed here: file and ring together have all that was published, whole, and each record once. */
active proctype reader() {
	byte at, from, size, i, found[RECORDS];

end:	do
	:: d_step {
		at = 0;
		do
		:: at < log_end && file[at] == 0 -> at++ /* taken in vain, or not written yet */
		:: at < log_end && file[at] >= 100 ->
			from = (file[at] - 100) / 4;
			size = (file[at] - 100) % 4;
			i = 0;
			do
			:: i < size && from + i < tail ->
				assert(file[at + 1 + i] == from + i + 1);
				found[from + i]++;
				i++
			:: else -> break
			od;
			at = at + 1 + size
		:: else -> assert(at >= log_end); break
		od;
		assert(tail <= head && head - tail <= SIZE);
		i = tail;
		do
		:: i < head -> assert(bytes[i % SIZE] == i + 1); found[i]++; i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < head -> assert(found[i] == 1); found[i] = 0; i++
		:: else -> break
		od;
		at = 0; from = 0; size = 0; i = 0 }
	od
}
