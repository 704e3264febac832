# bin/runtctl: the client of the daemon as one executable, with the program and the host module of bin/runt.
# Included by the top Makefile.

CLIENT := $(B)/client
CLIENT_OBJECTS := $(patsubst native-bindings/client/%.c,$(CLIENT)/%.o,$(sort $(wildcard native-bindings/client/*.c)))
CLIENT_PROGRAM := $(addprefix $(B)/program/,image.o invocation.o modules.o stack.o) $(CLIENT)/program/alloc.o
# The parsers of files are in the image, too.
CLIENT_ARENA := 18 << 20
CLIENT_APART := 640 << 10
# Of these the linker takes what is called.
CLIENT_LIBRARY := $(filter $(B)/host/%.o $(B)/shared/%.o,$(PROGRAM_OBJECTS))

$(CLIENT)/%.o: native-bindings/client/%.c $(B)/quickjs/version | $(B)/kernel-headers $(GEN)/build.h $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	@echo "  cc $<"
	$(Q)$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@
-include $(CLIENT_OBJECTS:.o=.d)

$(CLIENT)/program/alloc.o: native-bindings/program/alloc.c native-bindings/program/alloc.h native-bindings/client/build.mk $(B)/quickjs/version | $(B)/kernel-headers $(GEN)/build.h $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) -DFIRST_ARENA='((size_t)$(CLIENT_ARENA))' -DAPART='((size_t)$(CLIENT_APART))' -c $< -o $@

$(CLIENT)/gen/embed.S: $(LIBRARY_SOURCES) $(BUNDLE_TOOLS) package.json package-lock.json $(BYTECODE_COMPILER) $(B)/.mode
	@mkdir -p $(CLIENT)
	@echo "  bundle $@"
	$(Q)RUNT_TARGET=$(TARGET) $(TSX) tools/bundle-client.ts $(if $(DEBUG),--debug)

$(CLIENT)/embed.o: $(CLIENT)/gen/embed.S
	$(Q)$(CC) -c $< -o $@

$(CLIENT)/library.a: $(CLIENT_LIBRARY)
	$(Q)rm -f $@
	$(Q)$(TOOL)ar rcsD $@ $^

# As that of bin/runt.
$(CLIENT)/runt-image-writer: $(CLIENT_OBJECTS) $(CLIENT_PROGRAM) $(CLIENT)/embed.o $(CLIENT)/library.a $(B)/quickjs/version native-bindings/program/image.ld $(GEN)/text.ld
	$(Q)LC_ALL=C $(CC) $(LDFLAGS) $(CLIENT_OBJECTS) $(CLIENT_PROGRAM) $(CLIENT)/embed.o $(CLIENT)/library.a $(B)/quickjs/lib/libquickjs.a -lm -Wl,-Map=$(CLIENT)/runtctl.map -o $@

$(CLIENT)/engine.image: $(CLIENT)/runt-image-writer
	@$(RUN)$< > $@ || { echo "engine image of the client: a module makes a system call when it is loaded, or the image is too small" >&2; exit 1; }

bin/runtctl: $(CLIENT)/runt-image-writer $(if $(DEBUG),,$(CLIENT)/engine.image)
	@mkdir -p bin
	@echo "  link $@"
	@rm -f $@
	$(Q)$(if $(DEBUG),cp $< $@,$(TOOL)objcopy -S --update-section .image=$(CLIENT)/engine.image $< $@)
	$(Q)$(FOR_EVERYBODY) $@
