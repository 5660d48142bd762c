package object

import (
	"math"
	"os"

	core "granary/internal/core/object"
)

type options struct {
	singleOwner   bool
	diagnose      bool
	reuseDistance uint32
}

func defaultOptions() options {
	return options{diagnose: os.Getenv("GRANARY_DEBUG_ALLOC") == "1"}
}

func (o *options) flags() uint32 {
	flags := uint32(0)
	if o.singleOwner {
		flags |= core.FlagSingleOwner
	}
	if o.diagnose {
		flags |= core.FlagDiagnose
	}
	return flags
}

// Option is a property of a new type.
type Option func(*options)

// WithSingleOwner makes a type without locks, which is faster. Its owner may be any goroutine, but one at a
// time: New, Delete, Set and Clear of Vars that refer to its objects, and all methods of the Type, must not run
// at the same time as another of them; the delete of an object of another type counts too if that has such Vars
// in its fields, and so does Handle. Get, Must, IsNull and Equal of references and FromHandle may be called by
// anybody. With -race the detector sees most of what breaks this rule.
func WithSingleOwner() Option { return func(o *options) { o.singleOwner = true } }

// WithDiagnostics says whether the type keeps where objects were made and deleted, fills the fields of deleted
// ones with the byte 0xde, and keeps the last 65536 deleted ones, whose memory it does not use again meanwhile.
// Without this option it does if the environment variable GRANARY_DEBUG_ALLOC is 1.
func WithDiagnostics(on bool) Option { return func(o *options) { o.diagnose = on } }

// WithReuseDistance has memory of a deleted object used again only after at least so many others were given back, so
// that a pointer which was kept too long does not soon see another object. Memory is always used again in the
// order in which it was given back; without this option, as soon as the chunks at hand, of 512 objects, have
// nothing else.
func WithReuseDistance(objects int) Option {
	return func(o *options) { o.reuseDistance = uint32(min(max(objects, 0), math.MaxUint32)) }
}
