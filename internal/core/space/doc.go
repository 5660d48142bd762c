// Package space owns the one reserved address range and says of any address whose it is.
//
// The range is cut into granules of 64 KiB. Four granules that start at a multiple of four are a group. A run is
// what an owner gets: one granule or one group. Beside the range lie the owner table (a 16-bit value a granule,
// written by the owner of the run, 0 for none) and a record a granule, of a size the user of the package chooses,
// which starts with a Run.
//
//	[records][owner table][granules ...............................................]
//	                      base         committed granules ^        whole range ^
//
// So 'is this address ours, and whose' is one subtraction, one comparison and one load (Owner).
//
// Taking a run, in the order in which an earlier answer saves memory:
//
//  1. a run given back whose memory is still there (dirty);
//  2. half of step 1's larger size, split;
//  3. a run given back whose memory went back to the system (clean: reads as zero);
//  4. the frontier: granules never used, committed a piece at a time.
//
// Giving back a granule joins the four of a group when all four are free. The release sweep (ReleaseIdle) drops the
// memory of dirty runs that have been free for long enough; their addresses stay.
//
// Locks: Space.lock guards the lists and records of free runs and is held over no system call. Space.growLock is
// held while the frontier moves, system calls included; it is taken before lock. The package imports sys only.
package space
