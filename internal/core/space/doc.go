// Package space owns the one reserved address range and says of any address whose it is.
//
// The range is cut into granules of 64 KiB. A run is what an owner gets: a number of granules side by side. Below the
// range lie three tables: the owner table (a 16-bit value a granule, written by the owner of the run, 0 for none), the
// age table (32 bits a granule: whether its memory is zero, or since when it has been free), and a record a granule, of
// a size the user of the package chooses, which starts with a Run.
//
//	[records][ages][owners][granules ..............................................]
//	                       base         committed granules ^        whole range ^
//
// So 'is this address ours, and whose' is one subtraction, one comparison and one load (OwnerOf).
//
// Every granule below the frontier belongs to exactly one run, used or free. The record of a run's last granule names
// its first, so a run that is given back finds both neighbours and joins those that are free. Taking a run, in the
// order in which an earlier answer saves memory:
//
//  1. a free run that fits well, of those with memory that did not go back to the system (dirty);
//  2. one of the others (clean: they read as zero);
//  3. the frontier: granules never used, committed a piece at a time.
//
// The release sweep (ReleaseIdle) drops the memory of granules that have been free for long enough; their addresses
// stay.
//
// Locks: Space.lock guards the lists and records of free runs and is held over no system call. Space.growLock is
// held while the committed part grows, system calls included; it is taken before lock. The package imports sys only.
package space
