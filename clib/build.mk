# The C library: the core compiled by gccgo, the glue by gcc, linked as one with link-time optimisation.

CORE_PACKAGES := sys space heap linear object guard
CORE_PATH     := granary/internal/core
CORE_BUILD    := $(B)/core
# gccgo called directly does not read build constraints: files for the other compiler end in _gc.go.
core_files     = $(filter-out %_test.go %_gc.go,$(wildcard internal/core/$(1)/*.go))

OPTIMISE      := -O3 -fno-tree-slp-vectorize -flto=auto -flto-partition=one -fno-semantic-interposition -fPIC -g
GCCGO_FLAGS   := $(OPTIMISE) -fno-split-stack -fno-go-check-divide-zero -fno-go-check-divide-overflow \
                 -fno-exceptions -fno-non-call-exceptions
# Exceptions pass through operator new; unwind tables are all they need. -fexceptions would keep the core from being
# inlined.
GLUE_FLAGS    := $(OPTIMISE) -std=gnu11 -Wall -Wextra -Werror -fvisibility=hidden -fno-builtin \
                 -fasynchronous-unwind-tables -fno-math-errno -fwrapv -fno-plt -D_GNU_SOURCE \
                 -DGRANARY_VERSION=\"$(VERSION)\" -Iclib/include -Iclib/glue
# noseparate-code: two mappings less at the start of each program. sort-section: what has a few bytes lies together, so
# that the start touches two pages of variables and not six.
LINK_FLAGS    := -Wno-lto-type-mismatch -Wl,--gc-sections -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now -Wl,--as-needed \
                 -Wl,-z,noseparate-code -fdata-sections -Wl,--sort-section=alignment -nostartfiles

GLUE_SOURCES  := $(wildcard clib/glue/*.c)
GLUE_OBJECTS  := $(patsubst clib/glue/%.c,$(B)/glue/%.o,$(GLUE_SOURCES))
CORE_OBJECTS  := $(foreach p,$(CORE_PACKAGES),$(CORE_BUILD)/$(CORE_PATH)/$(p).o)

lib: $(B)/lib/libgranary.so $(B)/lib/libgranary.a $(B)/lib/pkgconfig/granary.pc $(B)/lib/gc/libgc.so.1

$(B)/lib/libgranary.so: $(CORE_OBJECTS) $(GLUE_OBJECTS) clib/exports.map
	@mkdir -p $(dir $@)
	$(CC) -shared $(OPTIMISE) $(LINK_FLAGS) -Wl,--version-script=clib/exports.map -Wl,-soname,libgranary.so \
	    -o $@.debug $(GLUE_OBJECTS) $(CORE_OBJECTS)
	objcopy --strip-debug $@.debug $@

# The archive holds one object without link-time code, so that any compiler can link it. The operators of C++ are weak:
# a program may have its own.
$(B)/lib/libgranary.a: $(CORE_OBJECTS) $(GLUE_OBJECTS) clib/exports.map
	@mkdir -p $(dir $@)
	$(CC) -r $(OPTIMISE) -flinker-output=nolto-rel -Wno-lto-type-mismatch -nostdlib -o $(B)/granary.o \
	    $(GLUE_OBJECTS) $(CORE_OBJECTS)
	tr -s ' ;\n' '\n' < clib/exports.map | grep -E '^[A-Za-z_]' | grep -vE '^(global|local):$$' > $(B)/exports.txt
	objcopy --strip-debug --keep-global-symbols=$(B)/exports.txt --wildcard --weaken-symbol='_Z*' $(B)/granary.o
	@rm -f $@
	ar rcs $@ $(B)/granary.o

# libgc.so.1: the managed heap behind bdwgc's interface. Of the glue it has system calls, messages, and the stubs.
GC_PACKAGES := sys space gc
GC_SOURCES  := $(wildcard clib/gc/*.c)
GC_OBJECTS  := $(patsubst clib/gc/%.c,$(B)/gc/%.o,$(GC_SOURCES)) $(B)/glue/sys.o $(B)/glue/message.o $(B)/glue/runtime.o
GC_CORE     := $(foreach p,$(GC_PACKAGES),$(CORE_BUILD)/$(CORE_PATH)/$(p).o)

$(B)/lib/gc/libgc.so.1: $(GC_CORE) $(GC_OBJECTS) clib/gc/exports.map
	@mkdir -p $(dir $@)
	$(CC) -shared $(OPTIMISE) $(LINK_FLAGS) -Wl,--version-script=clib/gc/exports.map -Wl,-soname,libgc.so.1 \
	    -o $@.debug $(GC_OBJECTS) $(GC_CORE)
	objcopy --strip-debug $@.debug $@

$(B)/gc/%.o: clib/gc/%.c $(wildcard clib/gc/*.h) clib/build.mk
	@mkdir -p $(dir $@)
	$(CC) -c $(GLUE_FLAGS) -Iclib/gc -o $@ $<

$(B)/lib/pkgconfig/granary.pc: clib/granary.pc.in Makefile
	@mkdir -p $(dir $@)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

$(B)/glue/%.o: clib/glue/%.c $(wildcard clib/glue/*.h) clib/include/granary.h clib/build.mk
	@mkdir -p $(dir $@)
	$(CC) -c $(GLUE_FLAGS) -o $@ $<

define core_rule
$(CORE_BUILD)/$(CORE_PATH)/$(1).o: $(call core_files,$(1)) $(2) clib/build.mk
	@mkdir -p $$(dir $$@)
	$(GCCGO) -c $(GCCGO_FLAGS) -fgo-pkgpath=$(CORE_PATH)/$(1) -I$(CORE_BUILD) -o $$@ $(call core_files,$(1))
endef
core_object = $(CORE_BUILD)/$(CORE_PATH)/$(1).o
$(eval $(call core_rule,sys,))
$(eval $(call core_rule,space,$(call core_object,sys)))
$(eval $(call core_rule,heap,$(call core_object,sys) $(call core_object,space)))
$(eval $(call core_rule,gc,$(call core_object,sys) $(call core_object,space)))
$(eval $(call core_rule,linear,$(call core_object,sys) $(call core_object,space) $(call core_object,heap)))
$(eval $(call core_rule,object,$(call core_object,sys) $(call core_object,space) $(call core_object,heap)))
$(eval $(call core_rule,guard,$(call core_object,sys) $(call core_object,space) $(call core_object,heap)))

.PHONY: install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -d $(DESTDIR)$(PREFIX)/lib/gc
	install -m 755 $(B)/granary $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(B)/lib/libgranary.so $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(B)/lib/libgranary.a $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(B)/lib/gc/libgc.so.1 $(DESTDIR)$(PREFIX)/lib/gc/
	install -m 644 clib/include/granary.h $(DESTDIR)$(PREFIX)/include/
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' clib/granary.pc.in \
	    > $(DESTDIR)$(PREFIX)/lib/pkgconfig/granary.pc
