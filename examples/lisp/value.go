package main

import (
	"strconv"
	"strings"
	"unsafe"

	"granary/managed"
)

// value is a word: an odd one is an integer, a small one a constant, any other the address of an object with its type
// in the lowest three bits.
type value = uintptr

const (
	null        value = 0
	falsehood   value = 8
	truth       value = 16
	unspecified value = 24
	constants         = 4096 // all addresses lie above

	tagPair      = 0
	tagSymbol    = 2
	tagString    = 4
	tagProcedure = 6
	tagMask      = 7
)

type pair struct{ car, cdr managed.Word }

type symbol struct {
	name   managed.Slice[byte]
	global managed.Word // its value outside of all procedures
	bound  bool
}

type text struct{ bytes managed.Slice[byte] }

// procedure is a closure, or a primitive if its number is not 0.
type procedure struct {
	parameters, body, frame managed.Word
	primitive               int
}

func integer(n int) value        { return value(n)<<1 | 1 }
func isInteger(v value) bool     { return v&1 != 0 }
func integerOf(v value) int      { return int(v) >> 1 }
func is(v value, tag value) bool { return v >= constants && v&tagMask == tag }
func isPair(v value) bool        { return is(v, tagPair) }

func boolean(b bool) value {
	if b {
		return truth
	}
	return falsehood
}

// at is the object of a value, whose type is known.
func at[T any](v value) *T { return (*T)(unsafe.Add(unsafe.Pointer(nil), v&^tagMask)) }

func valueOf[T any](p *T, tag value) value { return value(uintptr(unsafe.Pointer(p))) | tag }

// lispError is what is wrong with a program. It leaves the evaluation as a panic.
type lispError struct{ message string }

func (e *lispError) Error() string { return e.message }

func fail(parts ...string) { panic(&lispError{strings.Join(parts, "")}) }

// try stops the evaluation for errors of the heap.
func try[T any](result T, err error) T {
	if err != nil {
		fail(err.Error())
	}
	return result
}

// cons makes a pair of two values that are rooted.
func (l *lisp) cons(car, cdr value) value {
	if l.pairs++; l.options.every != 0 && l.pairs%l.options.every == 0 {
		if l.options.sliced {
			l.m.CollectIncremental(0)
		} else {
			l.m.Collect()
		}
	}
	p := try(managed.Make[pair](l.m))
	p.car, p.cdr = managed.WordOf(car), managed.WordOf(cdr)
	return valueOf(p, tagPair)
}

func (l *lisp) newString(s string) value {
	bytes := try(managed.MakeSlice[byte](l.m, len(s)))
	copy(bytes, s)
	if len(bytes) != 0 {
		l.push(uintptr(unsafe.Pointer(unsafe.SliceData(bytes))))
		defer l.stack.Pop()
	}
	t := try(managed.Make[text](l.m))
	t.bytes.Set(bytes)
	return valueOf(t, tagString)
}

// intern is the symbol of a name. Symbols are kept by handles.
func (l *lisp) intern(name string) value {
	if known, ok := l.symbols[name]; ok {
		return valueOf(known.Get(), tagSymbol)
	}
	bytes := try(managed.MakeSlice[byte](l.m, len(name)))
	copy(bytes, name)
	l.push(uintptr(unsafe.Pointer(unsafe.SliceData(bytes))))
	s := try(managed.Make[symbol](l.m))
	s.name.Set(bytes)
	l.stack.Pop()
	l.symbols[name] = try(managed.NewHandle(l.m, s, managed.Normal))
	return valueOf(s, tagSymbol)
}

func car(v value) value {
	if !isPair(v) {
		fail("car of something that is no pair: ", show(v))
	}
	return at[pair](v).car.Get()
}

func cdr(v value) value {
	if !isPair(v) {
		fail("cdr of something that is no pair: ", show(v))
	}
	return at[pair](v).cdr.Get()
}

// show is how a value is printed.
func show(v value) string {
	var b strings.Builder
	write(&b, v)
	return b.String()
}

func write(b *strings.Builder, v value) {
	switch {
	case isInteger(v):
		b.WriteString(strconv.Itoa(integerOf(v)))
	case v < constants:
		b.WriteString(map[value]string{null: "()", falsehood: "#f", truth: "#t"}[v])
	case is(v, tagSymbol):
		b.Write(at[symbol](v).name.Get())
	case is(v, tagString):
		b.Write(at[text](v).bytes.Get())
	case is(v, tagProcedure):
		b.WriteString("#<procedure>")
	default:
		b.WriteByte('(')
		for ; isPair(v); v = cdr(v) {
			write(b, car(v))
			if cdr(v) != null {
				b.WriteByte(' ')
			}
		}
		if v != null {
			b.WriteString(". ")
			write(b, v)
		}
		b.WriteByte(')')
	}
}
