package object

import (
	"fmt"
	"io"
	"slices"
)

// Leak is a number of objects of one type that were made at one place and not deleted, or deleted and are still held.
// The place is known for types that are diagnosed.
type Leak struct {
	Type       string
	Objects    int   // not deleted
	Unreleased int   // deleted, but some Var still holds them; of all places
	MadeAt     Stack // of the objects
}

func (l Leak) String() string {
	text := fmt.Sprintf("granary: leak: %s: %d objects were not deleted", l.Type, l.Objects)
	if l.Objects == 0 {
		text = fmt.Sprintf("granary: leak: %s: %d objects are deleted but still held", l.Type, l.Unreleased)
	}
	if len(l.MadeAt) != 0 {
		text += ", made at:\n" + l.MadeAt.String()
	}
	return text
}

// Leaks are the objects that exist, by type in the order in which types were made, and by the place where they were
// made, the most objects first. The last one of a type tells what is deleted but still held, if anything is.
func Leaks() []Leak {
	var leaks []Leak
	for _, info := range all() {
		leaks = append(leaks, info.leaks()...)
	}
	return leaks
}

func (info *typeInfo) leaks() []Leak {
	counts := map[uint32]int{}
	if info.diagnose {
		for ref, made := world.NextAlive(info.core, 0); ref != 0; ref, made = world.NextAlive(info.core, ref) {
			counts[made]++
		}
	} else if alive := int(info.core.Count()); alive != 0 {
		counts[0] = alive
	}
	var leaks []Leak
	for made, objects := range counts {
		leaks = append(leaks, Leak{Type: info.name, Objects: objects, MadeAt: stacks.get(made)})
	}
	slices.SortFunc(leaks, func(a, b Leak) int {
		if a.Objects != b.Objects {
			return b.Objects - a.Objects
		}
		return slices.Compare(a.MadeAt, b.MadeAt)
	})
	if held := int(info.core.Unreleased()); held != 0 {
		leaks = append(leaks, Leak{Type: info.name, Unreleased: held})
	}
	return leaks
}

// ReportLeaks writes Leaks to w, and returns how many objects were not deleted. What is not deleted is never freed:
// main can end with
//
//	defer object.ReportLeaks(os.Stderr)
func ReportLeaks(w io.Writer) (int, error) {
	objects := 0
	for _, leak := range Leaks() {
		if _, err := fmt.Fprintln(w, leak); err != nil {
			return objects, err
		}
		objects += leak.Objects
	}
	return objects, nil
}
