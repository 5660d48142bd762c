// Command lisp is a small interpreter of a Scheme whose pairs, closures and strings live in a managed heap of Granary,
// and whose stack is a managed.Stack.
//
//	lisp [-slice 1ms] [-divisor 3] [-report] [-pauses] FILE...
//
// It shows how a language runtime uses package managed:
//
//	value.go     values are words: an integer, or an address with the type in its lowest bits (managed.WithOffsets)
//	eval.go      everything the evaluation still needs lies on the Stack, so any call may collect
//	builtins.go  primitives, which find their arguments there
//	reader.go    text to values
//
// One call (f x y):
//
//  1. eval pushes the expression and the environment; they are roots from then on.
//  2. f, x and y are evaluated, and each value is pushed.
//  3. A primitive gets the place of its arguments on the stack. For a closure a frame is made, a list of pairs, and the
//     evaluation goes on with its body in the same Go call, so that tail calls need no stack.
//  4. Truncate takes off what was pushed; the result is safe until the next allocation, before which it is pushed.
package main
