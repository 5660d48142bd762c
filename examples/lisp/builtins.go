package main

import (
	"math/bits"
	"strconv"
)

// primitive is a procedure that is written in Go. Its arguments lie on the stack: argument(i).
type primitive struct {
	name        string
	least, most int // arguments; most -1: any number
	call        func(l *lisp, a arguments) value
}

// arguments are those of one call.
type arguments struct {
	l     *lisp
	base  int
	count int
}

func (a arguments) get(i int) value { return a.l.stack.At(a.base + i) }

func (a arguments) integer(i int) int {
	v := a.get(i)
	if !isInteger(v) {
		fail("an integer is needed, not ", show(v))
	}
	return integerOf(v)
}

func (a arguments) text(i int, tag value) string {
	v := a.get(i)
	switch {
	case !is(v, tag):
		fail("a string or a symbol is needed, not ", show(v))
	case tag == tagSymbol:
		return string(at[symbol](v).name.Get())
	}
	return string(at[text](v).bytes.Get())
}

// checked is an integer, which has one bit less than a word.
func checked(n int) value {
	if integerOf(integer(n)) != n {
		fail("an integer is too large: ", strconv.Itoa(n))
	}
	return integer(n)
}

func multiply(a, b int) int {
	negative := (a < 0) != (b < 0)
	high, low := bits.Mul64(uint64(max(a, -a)), uint64(max(b, -b)))
	if high != 0 || low >= 1<<62 {
		fail("an integer is too large: the product of ", strconv.Itoa(a), " and ", strconv.Itoa(b))
	}
	if negative {
		return -int(low)
	}
	return int(low)
}

// fold is a primitive that combines any number of integers.
func fold(first int, f func(a, b int) int) func(*lisp, arguments) value {
	return func(l *lisp, a arguments) value {
		total := first
		for i := range a.count {
			total = integerOf(checked(f(total, a.integer(i))))
		}
		return integer(total)
	}
}

func subtract(l *lisp, a arguments) value {
	total := a.integer(0)
	if a.count == 1 {
		return checked(-total)
	}
	for i := 1; i < a.count; i++ {
		total = integerOf(checked(total - a.integer(i)))
	}
	return integer(total)
}

func divide(f func(a, b int) int) func(*lisp, arguments) value {
	return func(l *lisp, a arguments) value {
		if a.integer(1) == 0 {
			fail("a division by 0")
		}
		return checked(f(a.integer(0), a.integer(1)))
	}
}

func compare(f func(a, b int) bool) func(*lisp, arguments) value {
	return func(l *lisp, a arguments) value {
		for i := 1; i < a.count; i++ {
			if !f(a.integer(i-1), a.integer(i)) {
				return falsehood
			}
		}
		return truth
	}
}

func test(f func(v value) bool) func(*lisp, arguments) value {
	return func(l *lisp, a arguments) value { return boolean(f(a.get(0))) }
}

func isTagged(tag value) func(*lisp, arguments) value {
	return test(func(v value) bool { return is(v, tag) })
}

// change is set-car! or set-cdr!.
func change(second bool) func(*lisp, arguments) value {
	return func(l *lisp, a arguments) value {
		car(a.get(0)) // it is a pair
		p := at[pair](a.get(0))
		if second {
			p.cdr.Set(a.get(1))
		} else {
			p.car.Set(a.get(1))
		}
		return unspecified
	}
}

// primitives are known by number; 0 is none. primitiveApply is seen to by callPrimitive.
var primitives []primitive

const primitiveApply = 1

func init() {
	primitives = []primitive{
		{},
		{"apply", 2, 2, nil},
		{"+", 0, -1, fold(0, func(a, b int) int { return a + b })},
		{"*", 0, -1, fold(1, multiply)},
		{"-", 1, -1, subtract},
		{"quotient", 2, 2, divide(func(a, b int) int { return a / b })},
		{"remainder", 2, 2, divide(func(a, b int) int { return a % b })},
		{"=", 1, -1, compare(func(a, b int) bool { return a == b })},
		{"<", 1, -1, compare(func(a, b int) bool { return a < b })},
		{">", 1, -1, compare(func(a, b int) bool { return a > b })},
		{"cons", 2, 2, func(l *lisp, a arguments) value { return l.cons(a.get(0), a.get(1)) }},
		{"car", 1, 1, func(l *lisp, a arguments) value { return car(a.get(0)) }},
		{"cdr", 1, 1, func(l *lisp, a arguments) value { return cdr(a.get(0)) }},
		{"set-car!", 2, 2, change(false)},
		{"set-cdr!", 2, 2, change(true)},
		{"eq?", 2, 2, func(l *lisp, a arguments) value { return boolean(a.get(0) == a.get(1)) }},
		{"not", 1, 1, test(func(v value) bool { return v == falsehood })},
		{"null?", 1, 1, test(func(v value) bool { return v == null })},
		{"number?", 1, 1, test(isInteger)},
		{"pair?", 1, 1, isTagged(tagPair)},
		{"symbol?", 1, 1, isTagged(tagSymbol)},
		{"string?", 1, 1, isTagged(tagString)},
		{"procedure?", 1, 1, isTagged(tagProcedure)},
		{"string-append", 2, 2, func(l *lisp, a arguments) value {
			return l.newString(a.text(0, tagString) + a.text(1, tagString))
		}},
		{"string=?", 2, 2, func(l *lisp, a arguments) value {
			return boolean(a.text(0, tagString) == a.text(1, tagString))
		}},
		{"number->string", 1, 1, func(l *lisp, a arguments) value { return l.newString(strconv.Itoa(a.integer(0))) }},
		{"symbol->string", 1, 1, func(l *lisp, a arguments) value { return l.newString(a.text(0, tagSymbol)) }},
		{"string->symbol", 1, 1, func(l *lisp, a arguments) value { return l.intern(a.text(0, tagString)) }},
		{"display", 1, 1, func(l *lisp, a arguments) value { l.print(show(a.get(0))); return unspecified }},
		{"newline", 0, 0, func(l *lisp, a arguments) value { l.print("\n"); return unspecified }},
		{"collect", 0, 0, func(l *lisp, a arguments) value { l.m.Collect(); return unspecified }},
		{"error", 1, 1, func(l *lisp, a arguments) value { fail("error: ", show(a.get(0))); return unspecified }},
	}
}

// callPrimitive calls the primitive that lies on the stack at base.
func (l *lisp) callPrimitive(number, base int) (value, bool) {
	p := &primitives[number]
	a := arguments{l, base + 1, l.stack.Len() - base - 1}
	if a.count < p.least || p.most >= 0 && a.count > p.most {
		fail(p.name, " does not take ", strconv.Itoa(a.count), " arguments")
	}
	if number != primitiveApply {
		return p.call(l, a), false
	}
	call := l.stack.Len()
	l.push(a.get(0))
	for list := a.get(1); list != null; list = cdr(list) {
		l.push(car(list))
	}
	return l.apply(call)
}

// prelude is what is written in Lisp itself.
const prelude = `
(define (list . all) all)
(define (cadr p) (car (cdr p)))
(define (cddr p) (cdr (cdr p)))
(define (caddr p) (car (cddr p)))
(define (length l) (let loop ((l l) (n 0)) (if (null? l) n (loop (cdr l) (+ n 1)))))
(define (reverse l) (let loop ((l l) (r '())) (if (null? l) r (loop (cdr l) (cons (car l) r)))))
(define (append a b) (if (null? a) b (cons (car a) (append (cdr a) b))))
(define (map f l) (if (null? l) '() (cons (f (car l)) (map f (cdr l)))))
(define (assq key l) (cond ((null? l) #f) ((eq? (car (car l)) key) (car l)) (else (assq key (cdr l)))))
(define (iota n) (let loop ((n n) (l '())) (if (= n 0) l (loop (- n 1) (cons n l)))))
`
