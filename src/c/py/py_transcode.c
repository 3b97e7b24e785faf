/* transcode(): a pooled decoder's tokens go straight to a pooled encoder's writers. No Python object is
 * made for any value: only for the blocks that are read and written. */
#include "py_transcode.h"

#include "ionf_transcode.h"
#include "py_conv.h"
#include "py_input.h"
#include "py_options.h"
#include "py_sink.h"
#include "py_write_options.h"
#include "py_writer.h"

/* Bytes of input between two looks at pending signals, each of them at a token's end: by bytes, since
 * one long int between two bases takes as long as thousands of short tokens. */
#define SIGNAL_INTERVAL 4096

typedef struct transcode_options {
    ionfast_read_options read;
    ionfast_write_options write;
    PyObject *compression; /* borrowed */
    PyObject *auto_flush;  /* borrowed */
} transcode_options;

/* One call's work; all of it zero before the parts are opened. */
typedef struct transcode_job {
    ionfast_state *state;
    ionfast_decoder *dec;        /* owned, from the pool */
    const ionf_catalog *catalog; /* borrowed from the decoder's catalog */
    ionf_limits limits;
    ionfast_input input;
    PyObject *close_source; /* owned: callable that closes what was opened here; or NULL */
    bool is_open;           /* the decoder has had its first window */
    ionfast_encoder *enc;   /* owned, from the pool */
    ionf_buf *out;          /* owned, from the pool: finished binary */
    ionfast_sink sink;
    ionf_transcoder core;
    bool has_core;
    size_t block; /* bytes past which a top-level value is followed by a flush; 0: never */
    uint64_t count;
} transcode_job;

/* ---- the source ---- */

/* The first window, or the next one. */
static int
set_window(transcode_job *job)
{
    ionfast_decoder *const dec = job->dec;
    const ionfast_input *const input = &job->input;
    const uint8_t *data;
    size_t len;
    ionfast_input_window(input, &data, &len);
    if (!job->is_open) {
        job->is_open = true;
        return ionfast_decoder_open(dec, data, len, input->is_ended, input->is_text, &job->limits,
                                    job->catalog);
    }
    if (dec->is_binary) {
        ionf_bin_reader_window(&dec->bin, data, len, input->is_ended);
    } else {
        ionf_txt_reader_window(&dec->txt, data, len, input->is_ended);
    }
    return 0;
}

/* More bytes; runs the source's read. */
static int
pull(transcode_job *job)
{
    ionfast_decoder *const dec = job->dec;
    if (job->is_open) {
        ionfast_input_consume(&job->input, dec->is_binary ? ionf_bin_reader_release(&dec->bin)
                                                          : ionf_txt_reader_release(&dec->txt));
    }
    return ionfast_input_pull(job->state, &job->input) < 0 ? -1 : set_window(job);
}

/* Before the first token: memory has its window, a file must be read from. */
static int
open_window(transcode_job *job)
{
    return job->input.kind == IONFAST_INPUT_MEMORY ? set_window(job) : pull(job);
}

/* ---- running ---- */

/* Hand what is finished to the sink. */
static int
drain(transcode_job *job)
{
    const ionf_status status = ionf_transcode_flush(&job->core);
    if (status != IONF_OK) {
        ionfast_set_status(job->state, status);
        return -1;
    }
    ionf_buf *const out = job->core.out;
    if (out->len == 0) {
        return 0;
    }
    PyObject *segment = ionfast_sink_segment(&job->sink, out->data, out->len);
    if (segment == NULL) {
        return -1;
    }
    ionf_buf_reset(out);
    return ionfast_sink_write(&job->sink, segment);
}

static int
refuse_token(transcode_job *job, ionf_status status, const ionf_token *token)
{
    if (status == IONF_ERR_NOMEM) {
        PyErr_NoMemory();
    } else if (status != IONF_ERR_INTERRUPTED) { /* whose exception is set */
        ionfast_set_error_at(job->state, token->offset, "%s", ionf_status_text(status));
    }
    return -1;
}

/* All tokens, one by one: 0 at the end, -1 on an exception. */
static int
run(transcode_job *job)
{
    ionfast_decoder *const dec = job->dec;
    const ionf_reader *const base = ionfast_decoder_base(dec);
    ionf_transcoder *const core = &job->core;
    uint64_t looked_at = 0;
    ionf_token token;
    for (;;) {
        ionf_status status =
            dec->is_binary ? ionf_bin_next(&dec->bin, &token) : ionf_txt_next(&dec->txt, &token);
        if (IONF_UNLIKELY(status == IONF_NEED_DATA)) {
            if (pull(job) < 0) {
                return -1;
            }
            continue;
        }
        if (IONF_UNLIKELY(status != IONF_OK)) {
            ionfast_set_error(job->state, &base->error);
            return -1;
        }
        if (IONF_UNLIKELY(token.kind == IONF_KIND_EOF)) {
            return 0;
        }
        status = ionf_transcode_token(core, &base->symtab, &token);
        if (IONF_UNLIKELY(status != IONF_OK)) {
            return refuse_token(job, status, &token);
        }
        if (ionf_transcode_depth(core) == 0) {
            job->count++;
            if (job->block != 0 && ionf_transcode_pending(core) >= job->block && drain(job) < 0) {
                return -1;
            }
        }
        if (IONF_UNLIKELY(token.offset - looked_at >= SIGNAL_INTERVAL)) {
            looked_at = token.offset;
            if (PyErr_CheckSignals() < 0) {
                return -1;
            }
        }
    }
}

/* After the last value. */
static int
finish(transcode_job *job)
{
    const ionf_status status = ionf_transcode_finish(&job->core);
    if (status != IONF_OK) {
        ionfast_set_status(job->state, status);
        return -1;
    }
    return drain(job);
}

/* After an error in the source: the values before it still go out. */
static void
finish_failed(transcode_job *job)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    ionf_transcode_abandon(&job->core);
    if (job->sink.left == NULL && !ionfast_sink_is_memory(&job->sink) && drain(job) < 0) {
        PyErr_Clear(); /* the first error is the one to know of */
    }
    PyErr_Restore(type, error, traceback);
}

/* ---- setting up and taking down ---- */

static int
open_job(transcode_job *job, PyObject *source, PyObject *target, const transcode_options *options)
{
    ionfast_state *const state = job->state;
    const bool is_binary = options->write.binary;
    const size_t usual = target == Py_None ? 0 : IONFAST_BLOCK_SIZE;
    job->limits = options->read.limits;
    if (ionfast_arg_block(options->auto_flush, usual, &job->block) < 0) {
        return -1;
    }
    job->dec = ionfast_read_options_decoder(state, &options->read, &job->catalog);
    job->enc = job->dec == NULL ? NULL : ionfast_write_options_encoder(state, &options->write);
    if (job->enc == NULL) {
        return -1;
    }
    if (!is_binary) { /* text spells its symbols */
        ionf_symmap_reset(&job->enc->bin.symbols);
    }
    job->out = ionf_pool_take(&state->buffers);
    if (job->out == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    /* The target last: opening a path truncates the file. */
    if (ionfast_input_open_source(job->state, "transcode", source, options->compression,
                                  &job->input, &job->close_source) < 0 ||
        open_window(job) < 0 ||
        ionfast_sink_open(state, target, source, is_binary, &job->sink) < 0) {
        return -1;
    }
    ionf_transcoder_init(&job->core, state->alloc, &job->enc->bin, &job->enc->txt, is_binary,
                         job->out, !options->write.omit_version_marker);
    job->has_core = true;
    return 0;
}

/* -1 when closing a file raises; an exception that is set stays. */
static int
close_job(transcode_job *job)
{
    ionfast_state *const state = job->state;
    if (job->has_core) {
        ionf_transcoder_destroy(&job->core);
    }
    int result = ionfast_sink_close(&job->sink);
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    if (job->out != NULL) {
        ionf_pool_give(&state->buffers, job->out);
    }
    if (job->enc != NULL) {
        ionfast_encoder_give(job->enc);
    }
    if (job->dec != NULL) {
        ionfast_decoder_give(job->dec);
    }
    ionfast_input_close(state, &job->input);
    if (job->close_source != NULL) {
        PyObject *closed = PyObject_CallNoArgs(job->close_source);
        Py_DECREF(job->close_source);
        Py_XDECREF(closed);
        result = closed == NULL ? -1 : result;
    }
    if (type != NULL) {
        PyErr_Clear();
        PyErr_Restore(type, error, traceback);
    }
    return result;
}

static PyObject *
transcode(ionfast_state *state, PyObject *source, PyObject *target,
          const transcode_options *options)
{
    transcode_job job = {.state = state};
    PyObject *result = NULL;
    if (open_job(&job, source, target, options) == 0) {
        if (run(&job) < 0) {
            finish_failed(&job);
        } else if (finish(&job) == 0) {
            result = ionfast_sink_is_memory(&job.sink) ? ionfast_sink_value(&job.sink)
                                                       : PyLong_FromUnsignedLongLong(job.count);
        }
    }
    if (close_job(&job) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* ---- the call ---- */

static int
take_option(ionfast_state *state, transcode_options *options, PyObject *name, PyObject *value)
{
    if (IONFAST_IS_KEYWORD(name, "compression")) {
        options->compression = value;
        return 0;
    }
    if (IONFAST_IS_KEYWORD(name, "auto_flush")) {
        options->auto_flush = value;
        return 0;
    }
    if (IONFAST_IS_KEYWORD(name, "binary") || IONFAST_IS_KEYWORD(name, "indent") ||
        IONFAST_IS_KEYWORD(name, "imports") || IONFAST_IS_KEYWORD(name, "omit_version_marker")) {
        return ionfast_write_option_set(&options->write, "transcode", name, value);
    }
    if (IONFAST_IS_KEYWORD(name, "catalog") &&
        ionfast_write_option_set(&options->write, "transcode", name, value) < 0) {
        return -1;
    }
    if (IONFAST_IS_KEYWORD(name, "catalog") || IONFAST_IS_KEYWORD(name, "max_depth") ||
        IONFAST_IS_KEYWORD(name, "max_value_size")) {
        return ionfast_read_option_set(state, "transcode", name, value, &options->read);
    }
    PyErr_Format(PyExc_TypeError, "transcode() got an unexpected keyword argument '%U'", name);
    return -1;
}

PyObject *
ionfast_transcode(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    ionfast_state *state = ionfast_state_of_module(module);
    transcode_options options = {.write = ionfast_write_options_default(),
                                 .compression = state->str_auto,
                                 .auto_flush = Py_True};
    if (nargs < 1 || nargs > 2) {
        return PyErr_Format(PyExc_TypeError,
                            "transcode() takes 1 or 2 positional arguments but %zd were given",
                            nargs);
    }
    if (ionfast_read_options_parse(state, "transcode", NULL, NULL, &options.read) < 0) {
        return NULL;
    }
    const Py_ssize_t count = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (take_option(state, &options, PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) < 0) {
            return NULL;
        }
    }
    return transcode(state, args[0], nargs == 1 ? Py_None : args[1], &options);
}

const char ionfast_transcode_doc[] =
    "transcode(source, target=None, /, *, binary=True, indent=None, imports=(), catalog=None,\n"
    "          omit_version_marker=False, compression='auto', max_depth=1000,\n"
    "          max_value_size=None, auto_flush=True)\n"
    "--\n\n"
    "Copy a stream of Ion, text or binary, as binary or text, without making Python objects of "
    "its\n"
    "values, in memory bounded by the largest.\n\n"
    "source: what Reader takes: bytes-like, str (text Ion), a path or a file object.\n"
    "target: what Writer takes: a path, not that of the source, a file object, or None for "
    "memory.\n"
    "The other options are those of Reader and Writer. Symbols whose text only the catalog knows\n"
    "are spelled out; unknown ones keep their place in the import that they come from.\n\n"
    "Gives the number of top-level values, or, for memory, the bytes or str. Where the source is\n"
    "not Ion, IonError tells the place; the values before it have been written to the target.\n\n"
    ">>> import ionfast\n"
    ">>> ionfast.transcode(ionfast.dumps({'a': [1, 2.5]}), binary=False)\n"
    "'$ion_1_0 {a:[1,2.5e0]}'\n"
    ">>> ionfast.transcode('[]', binary=True)\n"
    "b'\\xe0\\x01\\x00\\xea\\xb0'\n";
