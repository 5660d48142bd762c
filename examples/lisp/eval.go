package main

import (
	"fmt"
	"io"

	"granary/managed"
)

// lisp is an interpreter. It belongs to one mutator.
type lisp struct {
	m       *managed.Mutator
	stack   *managed.Stack
	symbols map[string]managed.Handle[symbol]
	output  io.Writer
	names   names
	options options
	pairs   int // that were made
}

// options say when the interpreter collects by itself, for tests of programs that are collected all the time.
type options struct {
	every  int  // pairs between two collections; 0: as the heap sees fit
	sliced bool // a slice of a collection instead
}

// names are the symbols that the evaluation knows.
type names struct {
	quote, branch, define, set, lambda, let, begin, cond, otherwise, and, or value
}

const stackWords = 1 << 18

// newLisp makes an interpreter with its primitives.
func newLisp(m *managed.Mutator, output io.Writer, o options) (l *lisp, err error) {
	defer caught(&err)
	stack, err := m.Heap().NewStack(stackWords)
	if err != nil {
		return nil, err
	}
	l = &lisp{m: m, stack: stack, symbols: map[string]managed.Handle[symbol]{}, output: output, options: o}
	n := &l.names
	for name, place := range map[string]*value{
		"quote": &n.quote, "if": &n.branch, "define": &n.define, "set!": &n.set, "lambda": &n.lambda, "let": &n.let,
		"begin": &n.begin, "cond": &n.cond, "else": &n.otherwise, "and": &n.and, "or": &n.or,
	} {
		*place = l.intern(name)
	}
	for number, p := range primitives {
		if number != 0 {
			made := try(managed.Make[procedure](l.m))
			made.primitive = number
			l.push(valueOf(made, tagProcedure))
			l.defineGlobal(l.intern(p.name), l.stack.Top(0))
			l.stack.Pop()
		}
	}
	return l, l.run(prelude)
}

// caught makes an error of the panic of a program that is wrong.
func caught(err *error) {
	if reason := recover(); reason != nil {
		wrong, ok := reason.(*lispError)
		if !ok {
			panic(reason)
		}
		*err = wrong
	}
}

// close gives up what keeps the interpreter's objects.
func (l *lisp) close() {
	for _, s := range l.symbols {
		s.Free()
	}
	l.stack.Close()
}

// run evaluates all expressions of a text.
func (l *lisp) run(text string) (err error) {
	base := l.stack.Len()
	defer func() { l.stack.Truncate(base) }()
	defer caught(&err)
	r := reader{l: l, text: text}
	for r.skip() {
		l.eval(r.read(), null)
	}
	return nil
}

func (l *lisp) push(v value) {
	if err := l.stack.Push(v); err != nil {
		fail("the program calls too deep: ", err.Error())
	}
}

func (l *lisp) defineGlobal(name, v value) {
	s := at[symbol](name)
	s.global.Set(v)
	s.bound = true
}

// A frame is a pair of a list of bindings, which are pairs of a symbol and a value, and of the frame around it.

// binding finds the binding of a symbol in a frame and those around it, null if it is global.
func binding(name, frame value) value {
	for ; isPair(frame); frame = cdr(frame) {
		for list := car(frame); isPair(list); list = cdr(list) {
			if car(car(list)) == name {
				return car(list)
			}
		}
	}
	return null
}

// bind adds a binding to a frame. All three values are rooted.
func (l *lisp) bind(frame, name, v value) {
	l.push(l.cons(name, v))
	list := l.cons(l.stack.Top(0), car(frame))
	at[pair](frame).car.Set(list)
	l.stack.Pop()
}

func lookup(name, frame value) value {
	if b := binding(name, frame); b != null {
		return cdr(b)
	}
	s := at[symbol](name)
	if !s.bound {
		fail("no value is known for ", show(name))
	}
	return s.global.Get()
}

// eval evaluates an expression in a frame. What it is at lies on the stack from base on: the expression, the frame,
// and what was evaluated already.
func (l *lisp) eval(x, frame value) value {
	base := l.stack.Len()
	l.push(x)
	l.push(frame)
	for {
		if !isPair(x) {
			if is(x, tagSymbol) {
				x = lookup(x, frame)
			}
			l.stack.Truncate(base)
			return x
		}
		result, tail := l.evalForm(car(x), x, frame)
		if !tail {
			l.stack.Truncate(base)
			return result
		}
		// A tail call: goes on with what evalForm has left on top.
		x, frame = l.stack.Top(1), l.stack.Top(0)
		l.stack.SetAt(base, x)
		l.stack.SetAt(base+1, frame)
		l.stack.Truncate(base + 2)
	}
}

// goOn leaves an expression and a frame for eval to go on with.
func (l *lisp) goOn(x, frame value) (value, bool) {
	l.push(x)
	l.push(frame)
	return 0, true
}

// evalForm evaluates a pair. If it returns true, eval goes on.
func (l *lisp) evalForm(operator, x, frame value) (value, bool) {
	n := &l.names
	switch operator {
	case n.quote:
		return car(cdr(x)), false
	case n.branch:
		if l.eval(car(cdr(x)), frame) != falsehood {
			return l.goOn(car(cdr(cdr(x))), frame)
		}
		if rest := cdr(cdr(cdr(x))); rest != null {
			return l.goOn(car(rest), frame)
		}
		return unspecified, false
	case n.define:
		l.define(x, frame)
		return unspecified, false
	case n.set:
		l.assign(car(cdr(x)), l.eval(car(cdr(cdr(x))), frame), frame)
		return unspecified, false
	case n.lambda:
		return l.closure(car(cdr(x)), cdr(cdr(x)), frame), false
	case n.begin:
		return l.sequence(cdr(x), frame)
	case n.let:
		return l.let(x, frame)
	case n.cond:
		return l.cond(cdr(x), frame)
	case n.and, n.or:
		return l.junction(operator, cdr(x), frame)
	}
	base := l.stack.Len()
	l.push(l.eval(operator, frame))
	for rest := cdr(x); rest != null; rest = cdr(rest) {
		l.push(l.eval(car(rest), frame))
	}
	return l.apply(base)
}

func (l *lisp) closure(parameters, body, frame value) value {
	p := try(managed.Make[procedure](l.m))
	p.parameters, p.body, p.frame = managed.WordOf(parameters), managed.WordOf(body), managed.WordOf(frame)
	return valueOf(p, tagProcedure)
}

// define is (define name value) or (define (name parameters) body).
func (l *lisp) define(x, frame value) {
	name := car(cdr(x))
	if isPair(name) {
		l.push(l.closure(cdr(name), cdr(cdr(x)), frame))
		name = car(name)
	} else {
		l.push(l.eval(car(cdr(cdr(x))), frame))
	}
	if !is(name, tagSymbol) {
		fail("define of something that is no name: ", show(name))
	}
	if frame == null {
		l.defineGlobal(name, l.stack.Top(0))
	} else if b := binding(name, l.topOf(frame)); b != null {
		at[pair](b).cdr.Set(l.stack.Top(0))
	} else {
		l.bind(frame, name, l.stack.Top(0))
	}
	l.stack.Pop()
}

// topOf is a frame without those around it. It is rooted until the next allocation.
func (l *lisp) topOf(frame value) value { return l.cons(car(frame), null) }

func (l *lisp) assign(name, v, frame value) {
	if b := binding(name, frame); b != null {
		at[pair](b).cdr.Set(v)
		return
	}
	lookup(name, frame)
	l.defineGlobal(name, v)
}

// sequence evaluates all but the last expression of a list; eval goes on with that.
func (l *lisp) sequence(list, frame value) (value, bool) {
	if list == null {
		return unspecified, false
	}
	for ; cdr(list) != null; list = cdr(list) {
		l.eval(car(list), frame)
	}
	return l.goOn(car(list), frame)
}

// let is (let ((name value) ...) body) or (let loop ((name value) ...) body).
func (l *lisp) let(x, frame value) (value, bool) {
	base := l.stack.Len()
	list := car(cdr(x))
	loop := value(null)
	if is(list, tagSymbol) {
		loop, x = list, cdr(x)
		list = car(cdr(x))
	}
	count := 0
	for rest := list; rest != null; rest = cdr(rest) {
		l.push(car(car(rest)))
		count++
	}
	l.push(l.listFrom(base, null))
	parameters := l.stack.Top(0)
	if loop != null {
		l.push(l.cons(null, frame))
		frame = l.stack.Top(0)
	}
	l.push(l.closure(parameters, cdr(cdr(x)), frame))
	call := l.stack.Len() - 1
	if loop != null {
		l.bind(frame, loop, l.stack.At(call))
	}
	for rest := list; rest != null; rest = cdr(rest) {
		l.push(l.eval(car(cdr(car(rest))), frame))
	}
	return l.apply(call)
}

func (l *lisp) cond(clauses, frame value) (value, bool) {
	for ; clauses != null; clauses = cdr(clauses) {
		clause := car(clauses)
		if car(clause) == l.names.otherwise || l.eval(car(clause), frame) != falsehood {
			return l.sequence(cdr(clause), frame)
		}
	}
	return unspecified, false
}

// junction is and, or or.
func (l *lisp) junction(operator, list, frame value) (value, bool) {
	if list == null {
		return boolean(operator == l.names.and), false
	}
	for ; cdr(list) != null; list = cdr(list) {
		if v := l.eval(car(list), frame); (v != falsehood) == (operator == l.names.or) {
			return v, false
		}
	}
	return l.goOn(car(list), frame)
}

// apply calls the procedure that lies on the stack at base, with what lies above it as arguments.
func (l *lisp) apply(base int) (value, bool) {
	f := l.stack.At(base)
	if !is(f, tagProcedure) {
		fail("call of something that is no procedure: ", show(f))
	}
	p := at[procedure](f)
	if p.primitive != 0 {
		return l.callPrimitive(p.primitive, base)
	}
	count := l.stack.Len()
	l.push(l.cons(null, p.frame.Get()))
	frame := l.stack.Top(0)
	i := base + 1
	for parameters := p.parameters.Get(); parameters != null; i++ {
		if is(parameters, tagSymbol) { // the rest of the arguments as a list
			l.push(l.restFrom(i, count))
			l.bind(frame, parameters, l.stack.Top(0))
			return l.sequence(p.body.Get(), frame)
		}
		if i >= count {
			fail("too few arguments for (", show(p.parameters.Get()), ")")
		}
		l.bind(frame, car(parameters), l.stack.At(i))
		parameters = cdr(parameters)
	}
	if i != count {
		fail("too many arguments for ", show(p.parameters.Get()))
	}
	return l.sequence(p.body.Get(), frame)
}

// restFrom makes a list of the values on the stack from one place up to another.
func (l *lisp) restFrom(from, to int) value {
	l.push(null)
	for i := to - 1; i >= from; i-- {
		l.stack.SetTop(0, l.cons(l.stack.At(i), l.stack.Top(0)))
	}
	return l.stack.Pop()
}

func (l *lisp) print(parts ...any) { fmt.Fprint(l.output, parts...) }
