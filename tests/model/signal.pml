/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread and its signal handlers, which interrupt it at any step, also one another: they record too, leave by
 * siglongjmp, fork or vfork; as src/recorder/ring has it. A forked child goes on with what was interrupted, and here is
 * the one that is followed; the parent's own order is that without the fork. A fork is noticed before the handler
 * goes on (MUTANT_FORK_NOTICED_LATE: at the next record).
 */
#define LANES  2
#define LEVELS 3 /* the thread, a handler, a handler in that handler */
#ifndef SIGNALS
#define SIGNALS 3
#endif
#define ALL   (2 * LANES) /* those of the parent's log, and those of the child's */
#define NONE  ALL

byte level, signals; /* handlers run in the place of what they interrupted */
bool is_jumped_to[LEVELS];

/* Of the log that the process has: a child forgets its parent's and opens its own at its first record. */
byte epoch;
bool is_open = true, is_child, is_vfork_child;
#define RING     0 /* at the addresses of the parent's ring; or memory of nobody's, or nothing */
#define NOBODYS  1
#define NOTHING  2
byte at_parents;

/* The thread's word: a lane at rest; or whose writing has the lane `told`; or NONE: no lane yet. One step changes it. */
#define WRITING(who) (NONE + (who))
byte word, told;
bool is_owned[ALL];
byte frame[ALL];     /* 1 + level: deeper is larger; of lanes of which the word does not tell */
byte lane_epoch[ALL];

/* What holds and is not in the code. */
byte writer[ALL];    /* 1 + level of a writing that can still go on */
byte contents[ALL];  /* who wrote the bytes at head */

inline touch(of_epoch) { /* a child never changes its parent's, and does not fault */
	assert(!is_vfork_child);
	assert(!is_child || of_epoch != 0 || at_parents == NOBODYS)
}

#define IS_IN_USE(i) (is_owned[i] && word != i)

inline forget() {
	d_step {
		if
		:: epoch == 0 ->
#ifdef MUTANT_RING_TAKEN_AWAY
			at_parents = NOTHING;
#else
			at_parents = (IS_IN_USE(0) || IS_IN_USE(1) -> NOBODYS : NOTHING);
#endif
			is_open = false; epoch = 1; word = NONE
		:: else
		fi
	}
}

#define END_OF_LANES (epoch == 0 -> LANES : ALL)

/* Of the lane that the word told of, it is noted who has that. */
inline set_word(lane, to) {
#ifndef MUTANT_FRAME_NOT_NOTED
	if :: word > NONE -> frame[told] = word - NONE :: else fi; /* in keep() reached by the thread only */
#endif
	told = lane; word = to
}

/* A lane that nobody has, or one of a writing that was left by longjmp; all signals are blocked. */
inline find() {
	atomic {
		if
#ifndef MUTANT_FORK_WHILE_LOOKING
		:: my_epoch != epoch || !is_open -> skip
		:: my_epoch == epoch && is_open ->
#else
		:: true -> assert(is_open);
#endif
			if
			:: word < NONE && lane_epoch[word] == my_epoch -> mine = word
			:: else -> set_word(told, NONE)
			fi;
			/* Of each lane that the thread has, it knows whether a writing that can go on has it. */
			i = END_OF_LANES - LANES;
			do
			:: i < END_OF_LANES && is_owned[i] && word != i -> assert(frame[i] != 0 && (writer[i] == 0 || writer[i] == frame[i])); i++
			:: else -> if :: i >= END_OF_LANES -> break :: else -> i++ fi
			od;
			i = END_OF_LANES - LANES;
			do
			:: i < END_OF_LANES && !is_owned[i] && mine == NONE -> mine = i
			:: else -> if :: i == END_OF_LANES -> break :: else -> i++ fi
			od;
			i = END_OF_LANES - LANES;
			do
#ifdef MUTANT_STACKS_COMPARED /* a signal stack may lie anywhere */
			:: i < END_OF_LANES && mine == NONE && frame[i] != 0 && frame[i] != me -> mine = i
#else
			:: i < END_OF_LANES && mine == NONE && frame[i] > me -> mine = i /* reached by the thread only */
#endif
			:: else -> if :: i == END_OF_LANES -> break :: else -> i++ fi
			od;
			i = 0;
			if
			:: mine != NONE ->
				is_owned[mine] = true; lane_epoch[mine] = my_epoch; told = mine; word = WRITING(me)
			:: else
			fi
		fi
	}
}

/* A handler made the word tell of another lane: if that one is at rest it stays, and this one is given back. */
inline keep() {
	atomic {
		if
		:: my_epoch != epoch || !is_open
		:: my_epoch == epoch && is_open && word < NONE && lane_epoch[word] == my_epoch -> is_owned[mine] = false
		:: else -> set_word(mine, mine)
		fi
	}
}

inline write_record() {
#ifdef MUTANT_FORK_NOTICED_LATE
	if :: is_child -> forget() :: else fi;
#endif
	atomic { if :: !is_open -> is_open = true; epoch = 2 :: else fi };
	my_epoch = epoch;
	mine = (word < NONE -> word : NONE);
	if
#ifdef MUTANT_EPOCH_NOT_COMPARED
	:: mine != NONE ->
#else
	:: mine != NONE && lane_epoch[mine] == my_epoch ->
#endif
#ifdef MUTANT_OWN_NOT_SWAPPED
		word = WRITING(me)
#else
		atomic { if :: word == mine -> word = WRITING(me) :: else -> mine = NONE fi }
#endif
	:: else -> mine = NONE
	fi;
	if
	:: mine == NONE -> find()
	:: else
	fi;
	if
	:: mine != NONE ->
		/* a place has one owner */
		d_step { touch(my_epoch); assert(writer[mine] == 0); writer[mine] = me; contents[mine] = me };
		/* the record, step by step, and its publication: nobody else's bytes are there */
		d_step { touch(my_epoch); assert(writer[mine] == me && contents[mine] == me) };
		if
		:: my_epoch == epoch ->
			d_step { touch(my_epoch); assert(writer[mine] == me); writer[mine] = 0 };
			if
			:: my_epoch == epoch ->
				atomic { /* a compare-and-swap; what it leaves is left to keep() */
					if
					:: word == WRITING(me) -> word = mine; mine = NONE
					:: else
					fi
				};
				if :: mine != NONE -> keep() :: else fi
			:: else
			fi
		:: else
		fi
	:: else
	fi;
	atomic { mine = NONE; my_epoch = 0 }
}

/* The writings of deeper levels never go on. */
inline jump_to(target) {
	d_step {
		i = 0;
		do
		:: i < ALL -> if :: writer[i] > target -> writer[i] = 0 :: else fi; i++
		:: else -> break
		od;
		i = 0;
		is_jumped_to[target] = true;
		if :: target == 0 -> is_jumped_to[1] = true :: else fi;
		level = target
	}
}

/* Handlers have the numbers 1 and 2, as their levels. */
proctype handler() provided (level == _pid || level == _pid - 1) {
	byte my_level = _pid, me = _pid + 1, mine = NONE, my_epoch, i;

end:	do
	:: {
		if
		:: atomic { level == my_level - 1 && signals < SIGNALS && !is_vfork_child -> level = my_level; signals++ }
		:: level == my_level -> skip /* a handler in it came here by siglongjmp */
		fi;
		if
		:: write_record()
		:: skip
		fi;
		if
		:: skip
		:: !is_child -> atomic { is_child = true;
#ifndef MUTANT_FORK_NOTICED_LATE
			forget()
#endif
			}
#ifdef MUTANT_VFORK_CHILD_RECORDS
		:: !is_child -> is_vfork_child = true; write_record(); is_vfork_child = false
#endif
		fi;
		if
		:: write_record()
		:: skip
		fi;
		if
		:: level = my_level - 1
		:: jump_to(0)
		:: my_level == 2 -> jump_to(1)
		fi
	} unless { is_jumped_to[my_level] -> atomic { is_jumped_to[my_level] = false; mine = NONE; my_epoch = 0; i = 0 } }
	od
}

active proctype thread() provided (level == 0) {
	byte me = 1, mine = NONE, my_epoch, i;

	atomic { word = NONE; told = NONE; run handler(); run handler() };
end:	do
	:: { write_record() } unless { is_jumped_to[0] -> atomic { is_jumped_to[0] = false; mine = NONE; my_epoch = 0; i = 0 } }
	od
}
