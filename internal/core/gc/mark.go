package gc

import (
	"unsafe"

	"granary/internal/core/sys"
)

const (
	markersMost = 16 // workers of one collection, its driver included
	ringSlots   = 32 // a power of two
	ringHalf    = ringSlots / 2
	seenSlots   = 64 // a power of two
	pieceBytes  = 32 << 10

	// endOfQueue is the link of a block that is in a queue as its last, or that a worker is scanning.
	endOfQueue = ^blockRef(0)
	// noBlock is the number of no block: of what a marker scans that is not a small block of its own.
	noBlock = ^uintptr(0)
	// noGranule is no granule of a block.
	noGranule = uintptr(granulesPerBlock)

	marksAt = sys.Addr(unsafe.Offsetof(header{}.marks))
	greyAt  = sys.Addr(unsafe.Offsetof(header{}.grey))
)

// marking is the state of the collection that is going on.
//
//	field                     written by
//	active to partial         the driver, while the world stands
//	stop                      the driver; workers read it
//	round to joined           whoever holds lock
//	queue, offered            whoever holds lock
//	markers[i]                the worker with that number; markers[0] is the driver's
//	roots, reference fields   the driver, in ModeVerify
//
// Equations (CheckMarks):
//
//	outside of a collection: no bit is grey, no block is linked in a queue, all rings and queues are empty
//	in a collection: a block with a grey bit is in exactly one queue, or a worker is scanning it
type marking struct {
	active  uint32 // 1 from BeginCycle to the end of FinishMarking; atomic
	epoch   uint32 // of the last collection that began
	full    uint32 // of the last full one that began: what marks are of that count
	sliced  uint32 // 1: mutators ran since BeginCycle
	partial uint32 // 1: what the collection before had marked stays marked

	stop    uint32 // 1: workers put back what they have and leave; atomic
	helpers uint32 // how many may help
	lock    uint32
	round   uint32 // of parallel work; a helper that comes late finds that its round is over
	done    uint32 // 1: nobody may join this round any more
	joined  uint32 // workers, the driver included
	idle    uint32 // of them; atomic for those who only look
	queue   blockQueue
	offered blockRef // a large object of which whoever is idle may scan pieces, 0: none; atomic for those who only look

	starts [smallMaxGranules + 1][4]uint64 // by granules of an object: a bit where an object starts; const

	recorded  rootLog
	reference reference

	markers [markersMost]marker
}

// blockQueue is a list of blocks through header.queueNext, first in, first out.
type blockQueue struct {
	head, tail blockRef
	count      uint32 // atomic in the shared queue, for those who only look
}

// marker is one worker of a collection.
//
// While it scans a small block, that block is its own: it is in no queue, but its queueNext says it is, so that no
// other worker takes it. Only the owner sets mark bits there; others set grey bits, and the owner comes back for them.
// What the owner finds inside of the block goes to pending.
//
// For every few objects that it scans it fetches some of the block that comes next: memory is busy while it computes,
// and nothing is fetched of a block that few objects lead to. A whole block at once is waited for, which costs what the
// misses do (a tree of 64 MB takes 20 ms either way; bit by bit 13).
type marker struct {
	ring     [ringSlots]uintptr // offsets of addresses found, whose headers are on their way into the cache
	ringFrom uintptr
	ringTo   uintptr
	base     uintptr // Heap.Base
	highest  uintptr // Heap.highest as the work began

	shared     uint32   // 1: others work too
	full       uint32   // marking.full
	interior   uint32   // 1: ModeInterior
	verifying  uint32   // 1: the reference marker's
	shaded     uint64   // objects found that others may mark, too, as bits of a word that shadeCollected sets
	shadedIn   blockRef // in this block
	shadedWord uintptr  // at this place

	own     blockQueue
	assists blockRef // a large object in the queue of another worker, of which this one scans pieces, or 0

	ahead, aheadEnd sys.Addr // what is to be fetched of the block that comes next
	near            uint32   // 1: the block that is being scanned was fetched whole

	seen [seenSlots]uintptr // offsets that went into the ring since the last call of Drain or Help; see wait

	here     uintptr                 // number of the small block that is being scanned
	from, to uintptr                 // which bytes of its objects may hold addresses, for scanRanges
	depth    uintptr                 // objects of it that are marked and not scanned
	pending  [granulesPerBlock]uint8 // the granules at which they start
	_        [64]byte
}

// marker is the worker with that number.
func (h *Heap) marker(number uint32) *marker { return &h.marking.markers[number&(markersMost-1)] }

// setUp prepares a marker for a piece of work.
func (h *Heap) setUp(m *marker, shared uint32) {
	m.shared = shared
	m.full = h.marking.full
	m.interior = h.mode & ModeInterior
	m.base = uintptr(h.Base)
	m.highest = h.highest
	m.here = noBlock
}

// addrOf is the address of a marker as procedures get it.
func addrOf(m *marker) sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(m))) }

// pendingAddr is where the pending objects are kept.
func (m *marker) pendingAddr() sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(&m.pending))) }

// addrOfHeader is the address of a header, whose bits are read and written by address where time matters.
func addrOfHeader(hd *header) sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(hd))) }

func byteAt(at sys.Addr) uint8 { return *(*uint8)(at.Pointer()) }

func setByteAt(at sys.Addr, value uint8) { *(*uint8)(at.Pointer()) = value }

// startsOf are the bits of the starts of a block's objects.
func (h *Heap) startsOf(hd *header) *[4]uint64 {
	return &h.marking.starts[hd.granules%(smallMaxGranules+1)]
}

// fillStarts fills the table of starts.
func (h *Heap) fillStarts() {
	for granules := uintptr(1); granules <= smallMaxGranules; granules++ {
		for start := uintptr(0); start+granules <= granulesPerBlock; start += granules {
			h.marking.starts[granules][start>>6&3] |= 1 << (start & 63)
		}
	}
}
