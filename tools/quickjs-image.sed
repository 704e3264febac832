# How the sources of QuickJS are changed so that what the image of the started engine holds (native-bindings/host/image.c) is not counted:
# a count is a write, and the first write to a page of the image costs a copy of the page. An object of the image is never freed, and never
# taken for one that has a single owner. `JS_IMAGE_SIZE` tells the host that the library can do this; the size is 0 until the image is made.
# The collector of cycles is left as it is: this program never starts it.

# quickjs.h
/^} JSRefCountHeader;/a\
#define JS_IMAGE_SIZE\
extern unsigned char image_start[] __attribute__((weak));\
extern size_t js_image_size;\
static inline JS_BOOL JS_InImage(const void *p) { return (size_t)p - (size_t)image_start < js_image_size; }
s/if (--p->ref_count <= 0)/if (!JS_InImage(p) \&\& --p->ref_count <= 0)/
/^static inline JSValue JS_Dup/,/^}/s/p->ref_count++;/if (!JS_InImage(p)) &/

# quickjs.c
s/^\( *\)\([a-z_>.-]*\)->header\.ref_count++;/\1if (!JS_InImage(\2)) \2->header.ref_count++;/
s/^\( *\)str->header\.ref_count--;/\1if (!JS_InImage(str)) str->header.ref_count--;/
s/(--\([a-z_]*\)->header\.ref_count > 0)/(JS_InImage(\1) || --\1->header.ref_count > 0)/
s/(--\([a-z_]*\)->header\.ref_count \([<=]=\) 0)/(!JS_InImage(\1) \&\& --\1->header.ref_count \2 0)/
s/(\([a-z0-9_]*\)->header\.ref_count != 1)/(JS_InImage(\1) || \1->header.ref_count != 1)/
/^int JS_NewClass(.*)$/i\
size_t js_image_size;
