/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a lane is among threads, as src/recorder/ring/place.c has it: threads are born and end at any time, also in
 * the middle of a record; the kernel gives their tids to others; a lane goes to another thread when its owner is gone.
 */
#define LANES 2
#define SLOTS 3 /* threads that live at once */
#define TIDS  3
#ifndef BIRTHS
#define BIRTHS 3
#endif

/* Owner words: serial number and tid. */
#define NOT_MADE 0
#define FREE     1
#ifdef MUTANT_NO_SERIAL
#define WORD(serial, tid) ((tid) + 4)
#else
#define WORD(serial, tid) ((serial) << 2 | (tid))
#endif
#define TID(word) ((word) & 3)

byte owners[LANES], next_index, lane_nr;
bool is_made[LANES]; /* it has its bytes */
bool is_alive[TIDS + 1];
byte births;
byte writer[LANES]; /* serial number of the thread that writes there; 0: none that could go on */

inline claim(index, from) {
	atomic {
#ifdef MUTANT_CLAIM_STORED
		owners[index] = me; mine = index
#else
		if
		:: owners[index] == from -> owners[index] = me; mine = index
		:: else
		fi
#endif
	}
}

/* One that was given back, or that of a thread which had our tid and therefore is gone. */
inline find_free() {
	i = 0;
	do
	:: i < nr && mine == LANES ->
		seen = owners[i];
		if
#ifdef MUTANT_TAKEN_BEFORE_MADE
		:: seen == FREE || seen == NOT_MADE || TID(seen) == tid -> claim(i, seen)
#else
		:: seen == FREE || (seen != NOT_MADE && TID(seen) == tid) -> claim(i, seen)
#endif
		:: else
		fi;
		i++
	:: else -> break
	od
}

inline find_gone() {
	i = 0;
	do
	:: i < nr && mine == LANES ->
		seen = owners[i];
		if
#ifdef MUTANT_KERNEL_NOT_ASKED
		:: seen > FREE && TID(seen) != tid -> claim(i, seen)
#else
		:: seen > FREE && TID(seen) != tid && !is_alive[TID(seen)] -> claim(i, seen)
#endif
		:: else
		fi;
		i++
	:: else -> break
	od
}

inline add() {
	atomic { if :: next_index < LANES -> mine = next_index; next_index++ :: else fi };
	if
	:: mine < LANES ->
		is_made[mine] = true;
		owners[mine] = me;
		atomic { if :: lane_nr <= mine -> lane_nr = mine + 1 :: else fi }
	:: else
	fi
}

active [SLOTS] proctype thread() {
	byte serial, tid, me, mine, nr, i, seen;

end:	do
	:: atomic {
		births < BIRTHS ->
		births++;
		serial = births;
		mine = LANES;
		if
		:: !is_alive[1] -> tid = 1
		:: !is_alive[2] -> tid = 2
		:: !is_alive[3] -> tid = 3
		fi;
		is_alive[tid] = true;
		me = WORD(serial, tid) };
		nr = lane_nr;
		find_free();
		if :: mine == LANES -> find_gone() :: else fi;
		if :: mine == LANES -> add() :: else fi;
		if :: mine == LANES -> goto gone :: else fi;
		d_step { assert(is_made[mine]); assert(writer[mine] == 0); writer[mine] = serial; i = 0; seen = 0; nr = 0 };
		if
		:: goto gone /* in the middle of a record */
		:: atomic { assert(writer[mine] == serial); writer[mine] = 0 }
		fi;
		if
		:: owners[mine] = FREE /* a signal handler left it another one */
		:: skip
		fi;
gone:		atomic {
			is_alive[tid] = false;
			/* What it was in the middle of, it cannot go on with. */
			if :: mine < LANES && writer[mine] == serial -> writer[mine] = 0 :: else fi;
			serial = 0; tid = 0; me = 0; mine = 0; nr = 0; i = 0; seen = 0 }
	od
}
