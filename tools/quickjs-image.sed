# How the sources of QuickJS are changed so that what the image of the started engine holds (native-bindings/host/image.c) is not counted:
# a count is a write, and the first write to a page of the image costs a copy of the page. An object of the image is never freed, and never
# taken for one that has a single owner. `JS_IMAGE_SIZE` tells the host that the library can do this; the size is 0 until the image is made.
# The collector of cycles is left as it is: this program never starts it.
#
# What is searched from anywhere lies apart, at the beginning of the image (js_image_allocate, while it is made; then NULL): shapes, and the
# tables of shapes and atoms. JS_SealImage moves the tables there, makes that of shapes twice as large (when it grows at run time, every shape
# is written to), and puts the atoms of one hash in the order of their age: who looks for one
# of a verb that is early in the image does not touch those of later ones.

# quickjs.h
/^} JSRefCountHeader;/a\
#define JS_IMAGE_SIZE\
extern unsigned char image_start[] __attribute__((weak));\
extern size_t js_image_size;\
extern void *(*js_image_allocate)(size_t size);\
extern void (*js_image_release)(void *block);\
void JS_SealImage(JSRuntime *rt);\
static inline JS_BOOL JS_InImage(const void *p) { return (size_t)p - (size_t)image_start < js_image_size; }
s/if (--p->ref_count <= 0)/if (!JS_InImage(p) \&\& --p->ref_count <= 0)/
/^static inline JSValue JS_Dup/,/^}/s/p->ref_count++;/if (!JS_InImage(p)) &/

# quickjs.c
s/^\( *\)\([a-z_>.-]*\)->header\.ref_count++;/\1if (!JS_InImage(\2)) \2->header.ref_count++;/
s/^\( *\)str->header\.ref_count--;/\1if (!JS_InImage(str)) str->header.ref_count--;/
s/(--\([a-z_]*\)->header\.ref_count > 0)/(JS_InImage(\1) || --\1->header.ref_count > 0)/
s/(--\([a-z_]*\)->header\.ref_count \([<=]=\) 0)/(!JS_InImage(\1) \&\& --\1->header.ref_count \2 0)/
s/(\([a-z0-9_]*\)->header\.ref_count != 1)/(JS_InImage(\1) || \1->header.ref_count != 1)/
s/sh_alloc = js_malloc(ctx, \(.*\));/sh_alloc = js_image_allocate ? js_image_allocate(\1) : js_malloc(ctx, \1);/
s/js_free\(_rt\)\{0,1\}([a-z]*, \(get_alloc_from_shape(.*)\));/js_image_release ? js_image_release(\2) : &/

# The shapes of objects with few properties are kept when no object has them any more, and are not changed in place: the next object that
# is made in the same way finds each of them, instead of making and filling them anew. Up to this number of properties, so that an object
# whose keys are data does not leave one for each of them; not while the image is made.
/^#define JS_PROP_INITIAL_SIZE/a\
#define JS_SHAPE_KEPT 8
s/} else if (JS_InImage(sh) || sh->header\.ref_count != 1) {/} else if (JS_InImage(sh) || sh->header.ref_count != 1 || (js_image_size \&\& sh->prop_count < JS_SHAPE_KEPT)) {/
/^static void js_free_shape(JSRuntime \*rt, JSShape \*sh)$/,/^}/s/^\( *\)js_free_shape0(rt, sh);/\1if (js_image_size \&\& sh->is_hashed \&\& sh->prop_count <= JS_SHAPE_KEPT) sh->header.ref_count = 1;\
\1else js_free_shape0(rt, sh);/

# indexOf and includes compare at every place of the string: they search as split does, for the first character.
/^static JSValue js_string_indexOf(/,/^}/s/^    if (len >= v_len \&\& .*{$/    if (!lastIndexOf) ret = len >= v_len ? string_indexof(p, p1, start) : -1;\
    else &/
/^static JSValue js_string_includes(/,/^}/s/^    if (start >= 0 \&\& start <= stop) {$/    if (magic == 0) ret = start <= stop \&\& string_indexof(p, p1, start) >= 0;\
    else &/

# The usual case of what the interpreter does most, before the general one. js_add_field: a property of a literal, whose shape has been made
# before; the value is moved. js_get_field: a plain property of an object or of what it inherits from.
/^static no_inline __exception int convert_fast_array_to_array(/i\
static force_inline BOOL js_add_field(JSContext *ctx, JSValueConst obj, JSAtom prop, JSValue val)\
{\
    JSObject *p;\
    JSShape *sh, *next;\
    JSProperty *room;\
    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT) return FALSE;\
    p = JS_VALUE_GET_OBJ(obj);\
    sh = p->shape;\
    if (p->class_id != JS_CLASS_OBJECT || !p->extensible || !sh->is_hashed) return FALSE;\
    next = find_hashed_shape_prop(ctx->rt, sh, prop, JS_PROP_C_W_E);\
    if (!next) return FALSE;\
    if (next->prop_size != sh->prop_size) {\
        room = js_realloc(ctx, p->prop, sizeof(p->prop[0]) * next->prop_size);\
        if (!room) return FALSE;\
        p->prop = room;\
    }\
    p->shape = js_dup_shape(next);\
    js_free_shape(ctx->rt, sh);\
    p->prop[next->prop_count - 1].u.value = val;\
    return TRUE;\
}\
\
static force_inline BOOL js_get_field(JSValueConst obj, JSAtom prop, JSValue *val)\
{\
    JSObject *p;\
    JSShapeProperty *prs;\
    JSProperty *pr;\
    if (JS_VALUE_GET_TAG(obj) != JS_TAG_OBJECT) return FALSE;\
    for (p = JS_VALUE_GET_OBJ(obj); p; p = p->shape->proto) {\
        prs = find_own_property(\&pr, p, prop);\
        if (prs) {\
            if (prs->flags \& JS_PROP_TMASK) return FALSE;\
            *val = JS_DupValue(NULL, pr->u.value);\
            return TRUE;\
        }\
        if (p->is_exotic \&\& (p->class_id != JS_CLASS_ARRAY || __JS_AtomIsTaggedInt(prop))) return FALSE;\
    }\
    *val = JS_UNDEFINED;\
    return TRUE;\
}\

/CASE(OP_define_field):/,/BREAK;/s/^\( *\)ret = JS_DefinePropertyValue(/\1if (js_add_field(ctx, sp[-2], atom, sp[-1])) {\
\1    sp--;\
\1    BREAK;\
\1}\
&/
/CASE(OP_get_field2\{0,1\}):/,/BREAK;/s/^\( *\)val = JS_GetProperty(ctx, sp\[-1\], atom);/\1if (!js_get_field(sp[-1], atom, \&val)) val = JS_GetProperty(ctx, sp[-1], atom);/
# Two strings are mostly the same one, or of different lengths.
s/^\( *\)res = (js_string_compare(ctx, JS_VALUE_GET_STRING(op1),/\1res = JS_VALUE_GET_PTR(op1) == JS_VALUE_GET_PTR(op2) || (JS_VALUE_GET_STRING(op1)->len == JS_VALUE_GET_STRING(op2)->len \&\& js_string_compare(ctx, JS_VALUE_GET_STRING(op1),/
# JSON: what needs no escape is copied at once.
/^static JSValue JS_ToQuotedString(JSContext/,/^}/s/^    for(i = 0; i < p->len; ) {$/&\
        if (!p->is_wide_char) {\
            int end = i;\
            while (end < p->len \&\& p->u.str8[end] >= 32 \&\& p->u.str8[end] != '"' \&\& p->u.str8[end] != '\\\\') end++;\
            if (end > i) {\
                if (string_buffer_write8(b, p->u.str8 + i, end - i)) goto fail;\
                i = end;\
                continue;\
            }\
        }/
# join: of a list of strings, none of which is wide or made of parts yet, the text is as long as their sum.
/^static JSValue js_array_join(/i\
static JSValue js_join_strings(JSContext *ctx, JSValueConst list, JSValueConst separator)\
{\
    JSValue *values;\
    JSString *p, *sep = NULL, *joined;\
    uint32_t i, count, length;\
    uint64_t size;\
    uint8_t *to;\
    if (!js_get_fast_array(ctx, list, \&values, \&count) || count == 0 || JS_VALUE_GET_TAG(separator) != JS_TAG_STRING) return JS_UNDEFINED;\
    if (JS_VALUE_GET_TAG(JS_VALUE_GET_OBJ(list)->prop[0].u.value) != JS_TAG_INT || JS_VALUE_GET_INT(JS_VALUE_GET_OBJ(list)->prop[0].u.value) != (int)count) return JS_UNDEFINED;\
    sep = JS_VALUE_GET_STRING(separator);\
    if (sep->is_wide_char) return JS_UNDEFINED;\
    size = (uint64_t)sep->len * (count - 1);\
    for (i = 0; i < count; i++) {\
        if (JS_VALUE_GET_TAG(values[i]) != JS_TAG_STRING) return JS_UNDEFINED;\
        p = JS_VALUE_GET_STRING(values[i]);\
        if (p->is_wide_char) return JS_UNDEFINED;\
        size += p->len;\
    }\
    if (size > JS_STRING_LEN_MAX) return JS_UNDEFINED;\
    joined = js_alloc_string(ctx, (int)size, 0);\
    if (!joined) return JS_EXCEPTION;\
    to = joined->u.str8;\
    for (i = 0; i < count; i++) {\
        length = sep->len;\
        if (i > 0) memcpy(to, sep->u.str8, length), to += length;\
        p = JS_VALUE_GET_STRING(values[i]);\
        length = p->len;\
        memcpy(to, p->u.str8, length);\
        to += length;\
    }\
    *to = 0;\
    return JS_MKPTR(JS_TAG_STRING, joined);\
}\

/^static JSValue js_array_join(/,/^}/s/^    obj = JS_ToObject(ctx, this_val);/    if (!toLocaleString \&\& argc > 0) {\
        el = js_join_strings(ctx, this_val, argv[0]);\
        if (!JS_IsUndefined(el)) return el;\
    }\
&/
# Room for four properties from the beginning, which the shape does not promise: js_realloc then finds that there is room. Not in the image.
/^static JSValue JS_NewObjectFromShape(/,/^}/s/p->prop = js_malloc(ctx, sizeof(JSProperty) \* sh->prop_size);/p->prop = js_malloc(ctx, sizeof(JSProperty) * (js_image_size \&\& class_id == JS_CLASS_OBJECT \&\& sh->prop_size < 4 ? 4 : sh->prop_size));/

/^int JS_NewClass(.*)$/i\
size_t js_image_size;\
void *(*js_image_allocate)(size_t size);\
void (*js_image_release)(void *block);\
\
static void *js_image_move(JSRuntime *rt, void *table, size_t size)\
{\
    void *moved = js_image_allocate(size);\
    memcpy(moved, table, size);\
    js_free_rt(rt, table);\
    return moved;\
}\
\
static int resize_shape_hash(JSRuntime *rt, int new_shape_hash_bits);\
\
void JS_SealImage(JSRuntime *rt)\
{\
    uint32_t i, *head;\
    JSAtomStruct *p;\
    if (resize_shape_hash(rt, rt->shape_hash_bits + 1) < 0) abort();\
    memset(rt->atom_hash, 0, sizeof(rt->atom_hash[0]) * rt->atom_hash_size);\
    for (i = rt->atom_size - 1; i > 0; i--) {\
        p = rt->atom_array[i];\
        if (atom_is_free(p) || p->atom_type >= JS_ATOM_TYPE_SYMBOL) continue;\
        head = \&rt->atom_hash[p->hash \& (rt->atom_hash_size - 1)];\
        p->hash_next = *head;\
        *head = i;\
    }\
    rt->atom_array = js_image_move(rt, rt->atom_array, sizeof(rt->atom_array[0]) * rt->atom_size);\
    rt->atom_hash = js_image_move(rt, rt->atom_hash, sizeof(rt->atom_hash[0]) * rt->atom_hash_size);\
    rt->shape_hash = js_image_move(rt, rt->shape_hash, sizeof(rt->shape_hash[0]) * rt->shape_hash_size);\
    js_image_allocate = NULL;\
    js_image_release = NULL;\
}\

