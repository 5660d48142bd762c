package wazero

// This file assembles the little modules that tests run, as the text format would have them.

// section is a section of a module: its contents are a vector of items.
func section(id byte, items ...[]byte) []byte {
	body := leb(uint32(len(items)))
	for _, item := range items {
		body = append(body, item...)
	}
	return append(append([]byte{id}, leb(uint32(len(body)))...), body...)
}

// leb is a number in LEB128.
func leb(n uint32) []byte {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

func name(s string) []byte { return append(leb(uint32(len(s))), s...) }

func function(code ...byte) []byte {
	body := join([]byte{0}, code, []byte{0x0b}) // no locals ... end
	return append(leb(uint32(len(body))), body...)
}

// growModule has a memory that it exports, and three functions:
//
//	(module
//	  (memory (export "memory") first most [shared])
//	  (func (export "grow") (param i32) (result i32) local.get 0 memory.grow)
//	  (func (export "load") (param i32) (result i32) local.get 0 i32.load8_u)
//	  (func (export "store") (param i32 i32) local.get 0 local.get 1 i32.store8))
func growModule(first, most uint32, shared bool) []byte {
	limits := byte(1) // with a maximum
	if shared {
		limits = 3
	}
	const i32 = 0x7f
	return join([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, []byte{0x60, 1, i32, 1, i32}, []byte{0x60, 2, i32, i32, 0}),
		section(3, []byte{0}, []byte{0}, []byte{1}),
		section(5, join([]byte{limits}, leb(first), leb(most))),
		section(7, join(name("memory"), []byte{2, 0}), join(name("grow"), []byte{0, 0}),
			join(name("load"), []byte{0, 1}), join(name("store"), []byte{0, 2})),
		section(10, function(0x20, 0, 0x40, 0), function(0x20, 0, 0x2d, 0, 0), function(0x20, 0, 0x20, 1, 0x3a, 0, 0)))
}
