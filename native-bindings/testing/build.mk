# The whole program with fault points and defences that can be switched off (testing.h): build/testing/runt. Its engine starts anew each
# time. Nothing of it is in bin/runt. Included by the top Makefile.

TESTING_DIR := native-bindings/testing
T := $(B)/testing
TESTING_HEADERS := $(wildcard $(TESTING_DIR)/*.h)
TESTING_PROGRAM_OBJECTS := $(PROGRAM_OBJECTS:$(B)/%=$(T)/%) $(T)/host/testing.o $(T)/host/host_points.o
TESTING_INIT_OBJECTS := $(INIT_OBJECTS:build/%=$(T)/%) $(T)/init/testing.o $(T)/init/points.o

$(T)/init/%.o: $(INIT_DIR)/%.c $(INIT_HEADERS) $(TESTING_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(INIT_CC) $(INIT_CFLAGS) -DRUNT_TESTING -c $< -o $@

$(T)/init/%.o: native-bindings/shared/%.c $(INIT_HEADERS) $(TESTING_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(INIT_CC) $(INIT_CFLAGS) -DRUNT_TESTING -c $< -o $@

$(T)/init/%.o: $(TESTING_DIR)/%.c $(INIT_HEADERS) $(TESTING_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(INIT_CC) $(INIT_CFLAGS) -DRUNT_TESTING -DRUNT_TESTING_HELPER -c $< -o $@

$(T)/runt-init: $(TESTING_INIT_OBJECTS)
	$(Q)$(INIT_CC) $(INIT_LDFLAGS) $^ -o $@

$(T)/program/%.o: native-bindings/program/%.c $(TESTING_HEADERS) $(B)/quickjs/version $(B)/libseccomp/version | $(B)/kernel-headers $(GEN)/build.h $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) -DRUNT_TESTING -MMD -MP -c $< -o $@

$(T)/twins/%.o: native-bindings/twins/%.c $(TESTING_HEADERS) $(B)/quickjs/version $(B)/libseccomp/version | $(B)/kernel-headers $(GEN)/build.h $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) -DRUNT_TESTING -MMD -MP -c $< -o $@

$(T)/host/%.o: native-bindings/host/%.c $(TESTING_HEADERS) $(B)/quickjs/version $(B)/libseccomp/version | $(B)/kernel-headers $(GEN)/build.h $(PROTOCOL_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) -DRUNT_TESTING -MMD -MP -c $< -o $@

$(T)/host/%.o: $(TESTING_DIR)/%.c $(TESTING_HEADERS) $(wildcard native-bindings/host/*.h) $(B)/quickjs/version | $(B)/kernel-headers
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) -DRUNT_TESTING -c $< -o $@
-include $(TESTING_PROGRAM_OBJECTS:.o=.d)

$(T)/shared/%.o: native-bindings/shared/%.c $(SHARED_HEADERS) $(TESTING_HEADERS)
	@mkdir -p $(@D)
	$(Q)$(INIT_CC) $(SHARED_CFLAGS) -DRUNT_TESTING -c $< -o $@

$(T)/gen/embed.S: $(TS_SOURCES) $(BUNDLE_TOOLS) package.json package-lock.json $(GEN)/schema.json $(BYTECODE_COMPILER) $(B)/.sources
	@mkdir -p $(T)
	@echo "  bundle $@"
	$(Q)RUNT_HELPER=$(T)/runt-init $(TSX) tools/bundle.ts --testing --output $(T)

$(T)/embed.o: $(T)/gen/embed.S $(T)/runt-init
	$(Q)$(CC) -c $< -o $@

$(T)/runt: $(TESTING_PROGRAM_OBJECTS) $(T)/embed.o native-bindings/program/image.ld $(GEN)/text.ld
	@echo "  link $@"
	$(Q)$(CC) $(LDFLAGS) $(TESTING_PROGRAM_OBJECTS) $(T)/embed.o $(B)/quickjs/lib/libquickjs.a $(B)/libseccomp/lib/libseccomp.a -lm -o $@
	$(Q)$(FOR_EVERYBODY) $@
