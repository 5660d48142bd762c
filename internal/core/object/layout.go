package object

import (
	"unsafe"

	"granary/internal/core/sys"
)

// Kinds of a Field.
const (
	// FieldVar is a Ref that is counted.
	FieldVar = iota + 1
	// FieldBlock is the address of a block of the heap, 0 for none, in the first word of Bytes bytes.
	FieldBlock
	// FieldArray is a FieldBlock whose second word says how many elements are in the block. InnerCount Fields, from Inner
	// on in the same table, are the layout of one; with InnerCount 0 the elements hold nothing.
	FieldArray
)

// Field is a place in the fields of an object, or in an element of an array, where there is something to let go of when
// the object is deleted; or Count of them, Stride bytes apart. A table of Fields in the order of their offsets is a
// layout.
type Field struct {
	Offset       uintptr
	Stride       uintptr
	ElementBytes uintptr // FieldArray: bytes of an element
	Kind         uint32
	Count        uint32
	Bytes        uint32 // of one of them, all of which become zero: 8 for FieldVar
	Inner        uint32 // FieldArray
	InnerCount   uint32 // FieldArray
	unused       uint32
}

const fieldBytes = unsafe.Sizeof(Field{})

func fieldAt(layout sys.Addr, index uint32) *Field {
	return (*Field)((layout + sys.Addr(uintptr(index)*fieldBytes)).Pointer())
}

// CheckLayout reports whether a table can be the layout of objects of so many bytes: every place lies inside of the
// object and is aligned, no two overlap, and layouts of elements come later in the table than the arrays they are of.
func CheckLayout(layout sys.Addr, count, total uint32, bytes uintptr) bool {
	if count > total || total > FieldsMost || total != 0 && layout == 0 {
		return false
	}
	if !checkPart(layout, 0, count, total, bytes) {
		return false
	}
	for i := uint32(0); i < total; i++ {
		f := fieldAt(layout, i)
		if f.Kind == FieldArray && f.InnerCount != 0 && (f.Inner <= i || f.Inner < count || f.Inner > total ||
			f.InnerCount > total-f.Inner || f.ElementBytes == 0 || f.ElementBytes > BytesMost ||
			!checkPart(layout, f.Inner, f.InnerCount, total, f.ElementBytes)) {
			return false
		}
	}
	return true
}

// checkPart looks at the Fields of one object or element of so many bytes.
func checkPart(layout sys.Addr, from, count, total uint32, bytes uintptr) bool {
	end := uintptr(0) // of the fields before
	for i := from; i < from+count; i++ {
		f := fieldAt(layout, i)
		least, exact := uintptr(sys.WordBytes), f.Kind == FieldVar
		if f.Kind == FieldArray {
			least = 2 * sys.WordBytes
		}
		of := uintptr(f.Bytes)
		if f.Kind < FieldVar || f.Kind > FieldArray || of < least || exact && of != least || f.Count == 0 ||
			f.Offset%sys.WordBytes != 0 || of%sys.WordBytes != 0 || f.Offset < end || f.Offset > bytes || of > bytes {
			return false
		}
		if f.Count > 1 && (f.Stride < of || f.Stride%sys.WordBytes != 0 || f.Stride > bytes) {
			return false
		}
		last := f.Offset
		if f.Count > 1 {
			if uintptr(f.Count-1) > (bytes-f.Offset)/f.Stride {
				return false
			}
			last += uintptr(f.Count-1) * f.Stride
		}
		if last+of > bytes {
			return false
		}
		end = last + of
	}
	return true
}

// ReleaseFields lets go of what memory holds that has a layout: count Fields of the table, from the one with that
// number on. The places read as zero afterwards. No lock is held.
func (w *World) ReleaseFields(layout sys.Addr, from, count uint32, memory sys.Addr) {
	w.release(layout, from, count, memory)
}

func (w *World) release(layout sys.Addr, from, count uint32, memory sys.Addr) {
	for i := from; i < from+count; i++ {
		f := fieldAt(layout, i)
		place := memory + sys.Addr(f.Offset)
		for k := uint32(0); k < f.Count; k++ {
			if word := place.Word(); word != 0 {
				w.releaseOne(layout, f, place, word)
			}
			place += sys.Addr(f.Stride)
		}
	}
}

// releaseOne empties one place. It calls release only for the elements of an array, whose layout comes later in the
// table: so deep, and no deeper, as arrays of arrays were declared.
func (w *World) releaseOne(layout sys.Addr, f *Field, place sys.Addr, word uintptr) {
	count := uintptr(0)
	if f.Kind == FieldArray {
		count = (place + sys.WordBytes).Word()
	}
	for at := uintptr(0); at < uintptr(f.Bytes); at += sys.WordBytes {
		(place + sys.Addr(at)).SetWord(0)
	}
	if f.Kind == FieldVar {
		w.Release(Ref(word))
		return
	}
	if f.InnerCount != 0 {
		element := sys.Addr(word)
		for ; count != 0; count-- {
			w.release(layout, f.Inner, f.InnerCount, element)
			element += sys.Addr(f.ElementBytes)
		}
	}
	freeBlock(sys.Addr(word))
}

// PoisonByte is what every byte of a deleted object is, with FlagDiagnose, but for what there was to let go of.
const PoisonByte = 0xde

// poison fills what the fields of a layout leave free; those read as zero.
func poison(memory sys.Addr, bytes uintptr, layout sys.Addr, count uint32) {
	fill(memory, bytes)
	for i := uint32(0); i < count; i++ {
		f := fieldAt(layout, i)
		place := memory + sys.Addr(f.Offset)
		for k := uint32(0); k < f.Count; k++ {
			for at := uintptr(0); at < uintptr(f.Bytes); at += sys.WordBytes {
				(place + sys.Addr(at)).SetWord(0)
			}
			place += sys.Addr(f.Stride)
		}
	}
}

func fill(memory sys.Addr, bytes uintptr) {
	for at := uintptr(0); at < bytes; at++ {
		*(*byte)((memory + sys.Addr(at)).Pointer()) = PoisonByte
	}
}

// struct layout_field of clib/glue/object.c has the same size.
const _ = 48 - fieldBytes
